// Text for people who read the page: numbers, escapes, links to steps.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// Three digits, or all before the point: 0.0185, 1 312, 2.9·10⁻⁵.
std::string plain(double value);
/// "4.5 %" of 0.045.
std::string percent_text(double share);
/// 3000 -> "3 000", with a narrow space that does not break.
std::string grouped_digits(index_t number);
/// "1:02:03" or "41 min", "12 s".
std::string duration_words(double seconds);

/// Powers of ten in a text, 2.9e-05, as 2.9·10⁻⁵; a space before % that does not break.
std::string readable(const std::string& text);

std::string html_escaped(const std::string& text);
/// Escaped and readable, and each "step 1312" a link to it.
std::string html_with_steps(const std::string& text);

/// "Vanishing in time" of "vanishing_time".
std::string verdict_title(const std::string& id);

/// A name that stands in for the directory: its last part.
std::string run_name(const RunData& run);

/// The worst finding as a headline and what stands below it.
struct Headline {
  std::string title, lede;
};
Headline headline(const RunData& run, const std::vector<Verdict>& verdicts);

}  // namespace xtape

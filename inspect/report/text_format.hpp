// Text of the pages: numbers, HTML escapes, links to steps.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// Three significant digits, or all digits before the point: 0.0185, 1 312, 2.9·10⁻⁵.
std::string plain(double value);
/// "4.5 %" of 0.045.
std::string percent_text(double share);
/// 3000 -> "3 000", with a narrow no-break space.
std::string grouped_digits(index_t number);
/// "1:02:03" or "41 min", "12 s".
std::string duration_words(double seconds);

/// Replaces 2.9e-05 in a text by 2.9·10⁻⁵, and the space before % by a no-break space.
std::string readable(const std::string& text);

std::string html_escaped(const std::string& text);
/// readable() and html_escaped() text in which each "step 1312" is a link.
std::string html_with_steps(const std::string& text);

/// "Vanishing in time" of "vanishing_time".
std::string verdict_title(const std::string& id);

/// The last part of the run's directory.
std::string run_name(const RunData& run);

/// The worst finding as a title, and the text below it.
struct Headline {
  std::string title, lede;
};
Headline headline(const RunData& run, const std::vector<Verdict>& verdicts);

}  // namespace xtape

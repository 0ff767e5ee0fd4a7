// The pages that `xtape inspect` prints.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <span>
#include <string>

namespace xtape {

struct PageOptions {
  int columns = 80;     ///< maximum length of a line, in characters
  bool colors = false;  ///< use terminal colors
};

/// Summary, verdicts and tables of layers, as text. Each table shows how a norm changes over the run.
std::string run_page(const RunData& run, const std::vector<Verdict>& verdicts, const PageOptions& options = {});

/// The page as one JSON object; docs/run_folder.md has its keys.
std::string run_page_json(const RunData& run, const std::vector<Verdict>& verdicts);

/// A line of `width` bars on a logarithmic scale that spans at least a factor of 10. Each bar is the maximum of its
/// part of the values; '_' is 0 and '!' is NaN or infinity.
std::string sparkline(std::span<const double> values, std::size_t width);

/// The width of a UTF-8 text in columns.
std::size_t text_width(const std::string& text);

}  // namespace xtape

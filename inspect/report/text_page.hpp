// What `xtape inspect` prints of a run.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <span>
#include <string>

namespace xtape {

struct PageOptions {
  int columns = 80;     ///< no line is longer, in characters
  bool colors = false;  ///< of a terminal
};

/// Summary, verdicts, and tables of layers with the course of each norm, for reading.
std::string run_page(const RunData& run, const std::vector<Verdict>& verdicts, const PageOptions& options = {});

/// The same for programs: one JSON object; docs/run_directory.md has its keys.
std::string run_page_json(const RunData& run, const std::vector<Verdict>& verdicts);

/// A line of `width` bars, each the largest of its part of the values, by their logarithms from the least to the
/// greatest (at least a factor of 10); '_' for 0 and '!' for what is not finite.
std::string sparkline(std::span<const double> values, std::size_t width);

/// Columns that a text in UTF-8 takes.
std::size_t text_width(const std::string& text);

}  // namespace xtape

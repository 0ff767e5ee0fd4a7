// A small picture of some lines over each other, as SVG.
#pragma once

#include <string>
#include <vector>

namespace xtape {

struct PlotLine {
  std::vector<double> values;  ///< drawn from left to right at equal distances
  std::string color;           ///< of CSS: "black", "#d62728"
};

/// One SVG document: the lines on one scale from the least to the greatest of all values, both written at the left, and
/// a caption below. Later lines cover earlier ones. Values that are not finite are left out; if none is finite, the
/// scale is 0 to 1.
std::string line_plot(const std::vector<PlotLine>& lines, const std::string& caption);

}  // namespace xtape

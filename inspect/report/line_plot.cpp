#include <xtape/core/number_text.hpp>
#include <xtape/inspect/report/line_plot.hpp>
#include <xtape/inspect/report/text_format.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

struct Scale {
  double low, high;
};

Scale common_scale(const std::vector<PlotLine>& lines) {
  Scale out = {INFINITY, -INFINITY};
  for (const PlotLine& line : lines)
    for (double value : line.values)
      if (std::isfinite(value)) out = {std::min(out.low, value), std::max(out.high, value)};
  if (out.low > out.high) return {0, 1};
  if (out.high - out.low < 1e-9) out.high = out.low + 1;  // a flat line needs a scale too
  return out;
}

std::string drawn(const PlotLine& line, const Scale& scale) {
  const auto count = static_cast<double>(line.values.size());
  std::string out = "<polyline fill=\"none\" stroke=\"" + html_escaped(line.color) + "\" points=\"";
  for (std::size_t i = 0; i < line.values.size(); ++i)
    if (std::isfinite(line.values[i]))
      out += number_text(60 + 900.0 * static_cast<double>(i) / count, "%.1f,") +
             number_text(320 - 280 * (line.values[i] - scale.low) / (scale.high - scale.low), "%.1f ");
  return out + "\"/>\n";
}

}  // namespace

std::string line_plot(const std::vector<PlotLine>& lines, const std::string& caption) {
  const Scale scale = common_scale(lines);
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 370\" font-size=\"14\" "
      "font-family=\"sans-serif\" stroke-width=\"1.5\">\n<rect width=\"1000\" height=\"370\" fill=\"white\"/>\n"
      "<text x=\"8\" y=\"45\">" +
      number_text(scale.high, "%.3g") + "</text>\n<text x=\"8\" y=\"325\">" + number_text(scale.low, "%.3g") +
      "</text>\n";
  for (const PlotLine& line : lines) out += drawn(line, scale);
  return out + "<text x=\"60\" y=\"355\">" + html_escaped(caption) + "</text>\n</svg>\n";
}

}  // namespace xtape

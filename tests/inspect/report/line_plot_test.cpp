// The SVG of some lines, byte for byte.
#include <xtape/inspect/report/line_plot.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

std::string points(const std::string& picture, const std::string& color) {
  const std::string before = "stroke=\"" + color + "\" points=\"";
  const std::size_t begin = picture.find(before);
  REQUIRE(begin != std::string::npos);
  return picture.substr(begin + before.size(), picture.find('"', begin + before.size()) - begin - before.size());
}

}  // namespace

TEST_CASE("a line plot: all lines on one scale, in their order, with a caption") {
  CHECK(
      line_plot({{{1, 3}, "black"}, {{5, 2, 1}, "#d62728"}}, "truth & forecast") ==
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 370\" font-size=\"14\" font-family=\"sans-serif\" "
      "stroke-width=\"1.5\">\n"
      "<rect width=\"1000\" height=\"370\" fill=\"white\"/>\n"
      "<text x=\"8\" y=\"45\">5</text>\n"
      "<text x=\"8\" y=\"325\">1</text>\n"
      "<polyline fill=\"none\" stroke=\"black\" points=\"60.0,320.0 510.0,180.0 \"/>\n"
      "<polyline fill=\"none\" stroke=\"#d62728\" points=\"60.0,40.0 360.0,250.0 660.0,320.0 \"/>\n"
      "<text x=\"60\" y=\"355\">truth &amp; forecast</text>\n"
      "</svg>\n");
}

TEST_CASE("a line plot: equal values lie at the foot, and the scale is written with three digits") {
  const std::string flat = line_plot({{{2.5, 2.5}, "red"}}, "");
  CHECK(points(flat, "red") == "60.0,320.0 510.0,320.0 ");
  CHECK(flat.find("y=\"45\">3.5</text>") != std::string::npos);
  CHECK(flat.find("y=\"325\">2.5</text>") != std::string::npos);
  CHECK(line_plot({{{1.23456, 123456}, "red"}}, "").find("y=\"45\">1.23e+05</text>\n<text x=\"8\" y=\"325\">1.23<") !=
        std::string::npos);
}

TEST_CASE("a line plot: values that are not finite are left out") {
  CHECK(points(line_plot({{{0, kNaN, 2, kInf}, "red"}}, ""), "red") == "60.0,320.0 510.0,40.0 ");
  for (const std::string& none : {line_plot({{{kNaN, -kInf}, "red"}}, ""), line_plot({{{}, "red"}}, "")}) {
    CHECK(points(none, "red") == "");
    CHECK(none.find("y=\"45\">1</text>\n<text x=\"8\" y=\"325\">0</text>") != std::string::npos);
  }
  CHECK(line_plot({}, "nothing").find("<polyline") == std::string::npos);
}

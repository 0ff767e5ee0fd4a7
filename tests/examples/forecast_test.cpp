// The forecasting example as a user runs it, on made hourly temperatures.
#include "child_process.hpp"
#include "support.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/files.hpp>

#include <filesystem>
#include <numbers>

using namespace xtape;
using namespace xtape::test;

#if defined(XTAPE_FORECAST) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

/// A day's wave on warm and cold spells, each a wave of five days, and a little noise.
std::string made_temperatures(int hours) {
  Random random(3, "made_temperatures");
  std::string out = "time,temp\n";
  for (int hour = 0; hour < hours; ++hour) {
    const double day = 2 * std::numbers::pi * hour / 24;
    const double temperature = 50 + 5 * std::sin(day) + 10 * std::sin(day / 5) + 0.3 * random.normal();
    out += std::to_string(hour) + "," + number_text(temperature, "%.6f") + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("the forecasting example learns spells that the seasonal-naive forecast cannot see, and draws them") {
  const TemporaryDirectory work;
  work.write("made.csv", made_temperatures(3000));
  const Finished result =
      run(XTAPE_FORECAST, {"--data", "made.csv", "--steps", "300", "--hidden", "16", "--threads", "1", "--out", "out"},
          work.path());
  INFO(result.err, result.out);
  CHECK(result.code == 0);
  const double told = number_after(result.out, "held-out windows: "), naive = number_after(result.out, "naive: ");
  CHECK(told < naive / 3);
  CHECK(naive > 5);
  const std::string picture = read_file(work.path() + "/out/forecast.svg");
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = picture.find("<polyline", at)) != std::string::npos; ++at) ++lines;
  CHECK(lines == 3);
  CHECK(picture.find("nan") == std::string::npos);
}

TEST_CASE("bad input to the forecasting example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  work.write("made.csv", made_temperatures(800));
  work.write("gap.csv", made_temperatures(800) + "800,\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--data", "none"}, "no such file"},
      {{"--data", "gap.csv"}, "gap.csv:802: column 2 (temp): expected a number, got ''"},
      {{"--data", "made.csv", "--column", "wind"}, "there is no column 'wind'"},
      {{"--data", "made.csv", "--season", "100"}, "expected a season within the context of 72, got 100"},
      {{"--data", "made.csv", "--context", "100"}, "in each part for a context of 100 and a horizon of 24, got 120"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = run(XTAPE_FORECAST, options, work.path());
    INFO(options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

#endif

#include <xtape/data/series.hpp>

#include "support.hpp"
#include "temporary_files.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// 0, 1, 2, ... squared.
std::vector<double> squares(std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<double>(i * i));
  return out;
}

}  // namespace

TEST_CASE("series: parts follow each other in time, and no window crosses a border") {
  const SeriesData data(squares(100), {.context = 4, .horizon = 2, .season = 3, .seed = 1});
  using Part = SeriesData::Part;
  CHECK(data.windows(Part::train).size() == 65);
  CHECK(data.windows(Part::validation) == std::vector<index_t>{70, 71, 72, 73, 74, 75, 76, 77, 78, 79});
  CHECK(data.windows(Part::test, 4) == std::vector<index_t>{85, 89, 93});
  for (index_t step = 0; step < 50; ++step)
    for (index_t window : data.train_windows(step, 8)) CHECK((window >= 0 && window <= 64));
  CHECK(data.train_windows(3, 8) == data.train_windows(3, 8));
  CHECK(data.train_windows(3, 8) != data.train_windows(4, 8));
}

TEST_CASE("series: windows, and the seasonal-naive forecast, by hand") {
  const SeriesData data(squares(100), {.context = 4, .horizon = 4, .season = 3, .seed = 1});
  CHECK(data.truth(10, 1) == 225);
  CHECK(data.seasonal_naive(10, 0) == 121);
  CHECK(data.seasonal_naive(10, 2) == 169);
  CHECK(data.seasonal_naive(10, 3) == 121);  // two seasons back: what lies between is not known yet
  const double stddev = data.stddev(), change = data.change_stddev();
  const SeriesBatch batch = series_batch(data, {10, 0});
  CHECK(batch.inputs.shape() == Shape{2, 4, 2});
  CHECK(batch.changes.shape() == Shape{2, 4});
  check_near(static_cast<double>(batch.inputs(0, 3, 0)), (169 - 133.5) / stddev);  // mean of 100, 121, 144, 169
  CHECK(batch.inputs(0, 2, 1) == 0);
  check_near(static_cast<double>(batch.inputs(0, 3, 1)), (169 - 100) / change);
  check_near(static_cast<double>(batch.changes(0, 1)), (225 - 144) / change);
  check_near(static_cast<double>(batch.changes(1, 0)), (16 - 1) / change);
  double squared = 0;  // of x[t] - x[t-3] = 6 t - 9 for t = 3..69
  for (int t = 3; t < 70; ++t) squared += (6 * t - 9) * (6 * t - 9);
  check_near(change, std::sqrt(squared / 67));
}

TEST_CASE("series: what cannot be forecast") {
  const auto make = [](std::vector<double> values, const SeriesOptions& o) { SeriesData(std::move(values), o); };
  check_throws<ValueError>([&] { make(squares(100), {.context = 0}); },
                           "expected context, horizon and season of at least 1, got 0, ");
  check_throws<ValueError>([&] { make(squares(100), {.context = 4, .horizon = 2, .season = 5}); },
                           "expected a season within the context of 4, got 5");
  check_throws<ValueError>([&] { make(squares(100), {.context = 14, .horizon = 2, .season = 5}); },
                           "expected at least 16 values in each part for a context of 14 and a horizon of 2, got 15");
  check_throws<ValueError>([&] { make({}, {.context = 4, .horizon = 2, .season = 3}); }, "a horizon of 2, got 0");
  check_throws<ValueError>([&] { make(std::vector<double>(100, 5), {.context = 4, .horizon = 2, .season = 3}); },
                           "the same in every season");
  std::vector<double> broken = squares(100);
  broken[7] = NAN;
  check_throws<ValueError>([&] { make(broken, {.context = 4, .horizon = 2, .season = 3}); },
                           "expected a finite value 7, got ");
  const SeriesData data(squares(100), {.context = 4, .horizon = 2, .season = 3});
  check_throws<ValueError>([&] { data.train_windows(-1, 1); },
                           "expected a step of at least 0 and a batch of at least 1, got -1 and 1");
  check_throws<ValueError>([&] { data.windows(SeriesData::Part::test, 0); }, "at least 1 value apart");
}

TEST_CASE("series: a column of a file") {
  const TemporaryDirectory work;
  std::string text = "time,temp\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "," + std::to_string(i % 24 + i / 24) + "\n";
  const std::string path = work.write("file.csv", text);
  const SeriesOptions small = {.context = 4, .horizon = 2, .season = 3};
  CHECK(load_series(path, "temp", small).value(25) == 2);
  check_throws<FileError>([&] { load_series(path, "wind", small); }, "there is no column 'wind' but 'time', 'temp'");
  check_throws<FileError>([&] { load_series(work.write("bad.csv", text + "100,\n"), "temp", small); },
                          "bad.csv:102: column 2 (temp): expected a number, got ''");
}

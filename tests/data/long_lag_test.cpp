#include <xtape/data/long_lag.hpp>

#include <xtape/core/error.hpp>

#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

/// How often each lag occurs is near `expected` for every lag from low to high, and no other occurs.
void check_uniform(const std::vector<index_t>& lags, index_t low, index_t high) {
  std::map<index_t, double> counts;
  for (index_t lag : lags) ++counts[lag];
  CHECK(counts.begin()->first == low);
  CHECK(counts.rbegin()->first == high);
  CHECK(std::ssize(counts) == high - low + 1);
  const double expected = static_cast<double>(lags.size()) / static_cast<double>(high - low + 1);
  for (const auto& [lag, count] : counts) {
    INFO("lag ", lag);
    CHECK(std::abs(count - expected) < 5 * std::sqrt(expected));
  }
}

}  // namespace

TEST_CASE("adding: two marks, their sum, and the lag of the earlier one") {
  const index_t steps = 12, batch = 4000;
  const AddingBatch out = adding_batch(7, batch, {.steps = steps, .seed = 3});
  REQUIRE(out.inputs.size() == static_cast<std::size_t>(batch * steps * 2));
  double error = 0;
  for (index_t b = 0; b < batch; ++b) {
    double sum = 0;
    std::vector<index_t> marks;
    for (index_t t = 0; t < steps; ++t) {
      const double* const step = out.inputs.data() + (b * steps + t) * 2;
      CHECK((step[0] >= 0 && step[0] < 1));
      CHECK((step[1] == 0 || step[1] == 1));
      sum += step[0] * step[1];
      if (step[1] == 1) marks.push_back(t);
    }
    const auto row = static_cast<std::size_t>(b);
    CHECK(marks.size() == 2);
    CHECK(out.targets[row] == sum);
    CHECK(out.lags[row] == steps - 1 - marks.front());
    error += (sum - 1) * (sum - 1) / static_cast<double>(batch);
  }
  check_uniform(out.lags, 1, steps - 1);
  check_near(error, 1.0 / 6, {0, 0.02});  // the cost of guessing 1
}

TEST_CASE("copy: what is recited was shown a lag before, and all else is blank") {
  const CopyOptions options = {.symbols = 5, .length = 3, .longest = 10, .seed = 1};
  const index_t steps = options.steps(), batch = 4000;
  const LagBatch out = copy_batch(2, batch, options);
  REQUIRE(out.inputs.shape() == std::vector<std::size_t>{4000, 13});
  REQUIRE(out.targets.shape() == out.inputs.shape());
  std::set<index_t> copied;
  for (index_t b = 0; b < batch; ++b) {
    const index_t lag = out.lags[b];
    for (index_t t = 0; t < steps; ++t) {
      const index_t input = out.inputs(b, t), target = out.targets(b, t);
      const bool shown = t >= 10 - lag && t < 13 - lag;
      if (shown) copied.insert(input);
      else CHECK(input == (t == 10 ? 6 : 5));
      CHECK(target == (t < 10 ? kNotAsked : out.inputs(b, t - lag)));
    }
  }
  CHECK(copied == std::set<index_t>{0, 1, 2, 3, 4});
  check_uniform(out.lags, 3, 10);
}

TEST_CASE("recall: every key is shown once, and the last step asks for the value of one") {
  const RecallOptions options = {.keys = 3, .values = 4, .noise = 2, .steps = 9, .seed = 5};
  const index_t batch = 4000;
  const LagBatch out = recall_batch(0, batch, options);
  std::map<index_t, index_t> answers, asked;
  for (index_t b = 0; b < batch; ++b) {
    std::map<index_t, index_t> times;  // by key
    for (index_t t = 0; t < 8; ++t) {
      const index_t input = out.inputs(b, t);
      CHECK(out.targets(b, t) == kNotAsked);
      CHECK((input >= 0 && input < 14));
      if (input < 12) CHECK(times.emplace(input / 4, t).second);
    }
    const index_t key = out.inputs(b, 8) - 14, lag = out.lags[b];
    REQUIRE(times.size() == 3);
    REQUIRE(times.contains(key));
    CHECK(times[key] == 8 - lag);
    CHECK(out.targets(b, 8) == out.inputs(b, 8 - lag) % 4);
    ++answers[out.targets(b, 8)];
    ++asked[key];
  }
  check_uniform(out.lags, 1, 8);
  CHECK(answers.size() == 4);
  CHECK(asked.size() == 3);
  for (const auto& [value, count] : answers) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("long lags: batches depend on seed and step, rows not on the batch") {
  const AddingBatch adding = adding_batch(4, 3, {.seed = 1});
  const AddingBatch wider = adding_batch(4, 5, {.seed = 1});
  CHECK(std::equal(adding.inputs.begin(), adding.inputs.end(), wider.inputs.begin()));
  CHECK(adding.inputs != adding_batch(5, 3, {.seed = 1}).inputs);
  CHECK(adding.inputs != adding_batch(4, 3, {.seed = 2}).inputs);
  for (const auto& make :
       {+[](index_t step, index_t batch, std::uint64_t seed) { return copy_batch(step, batch, {.seed = seed}); },
        +[](index_t step, index_t batch, std::uint64_t seed) { return recall_batch(step, batch, {.seed = seed}); }}) {
    const LagBatch few = make(4, 3, 1), many = make(4, 5, 1);
    CHECK(std::equal(few.inputs.begin(), few.inputs.end(), many.inputs.begin()));
    CHECK(std::equal(few.targets.begin(), few.targets.end(), many.targets.begin()));
    CHECK(few.inputs != make(5, 3, 1).inputs);
    CHECK(few.inputs != make(4, 3, 2).inputs);
    CHECK(few.inputs != make(kFreshStep + 4, 3, 1).inputs);
  }
}

TEST_CASE("long lags: sizes that do not fit") {
  check_throws<ValueError>([] { adding_batch(0, 1, {.steps = 1}); },
                           "[adding] expected sequences of at least 2 steps, got");
  check_throws<ValueError>([] { adding_batch(-1, 1); }, "[adding] expected a step of at least 0");
  check_throws<ValueError>([] { copy_batch(0, 1, {.length = 5, .longest = 4}); }, "[copy] expected symbols");
  check_throws<ValueError>([] { copy_batch(0, 0); }, "a batch of at least 1, got 0 and 0");
  check_throws<ValueError>([] { recall_batch(0, 1, {.keys = 3, .steps = 3}); }, "more steps than keys");
  check_throws<ValueError>([] { recall_batch(0, 1, {.noise = 0}); }, "[recall] expected keys");
}

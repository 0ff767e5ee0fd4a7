// What the log remembers of the gradients of all steps.
#include <xtape/inspect/log/gradient_history.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/nn/init.hpp>

#include "support.hpp"

#include <algorithm>
#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

Array history_scaled(Array x, real factor) {
  for (real& value : x) value *= factor;
  return x;
}

struct TwoWeights {
  ParamStore store{3};
  Parameter w = store.root().parameter("w", {40, 50}, init::ones());
  Parameter b = store.root().parameter("b", {7}, init::zeros());
  GradientHistory history{store.parameters()};

  std::optional<double> step(const Array& dw) {
    w.set_grad(dw);
    b.set_grad(sample({7}, 9, 0, 1e-6));
    return history.add();
  }
};

}  // namespace

TEST_CASE("the cosine of successive gradients is 1 for equal directions, -1 for opposite ones, small for noise") {
  TwoWeights model;
  const Array first = sample({40, 50}, 1), other = sample({40, 50}, 2);
  CHECK(!model.step(first));
  check_near(model.step(history_scaled(first, 3)).value(), 1, {1e-6, 0});
  check_near(model.step(history_scaled(first, -2)).value(), -1, {1e-6, 0});
  CHECK(std::abs(model.step(other).value()) < 0.2);  // four standard deviations of 1 / sqrt(512)
}

TEST_CASE("a gradient of 0, and one that is not finite, has no cosine") {
  TwoWeights model;
  const Array zero = history_scaled(sample({40, 50}, 1), 0);
  CHECK(!model.step(sample({40, 50}, 1)));
  Array broken = sample({40, 50}, 1);
  std::fill(broken.begin(), broken.end(), std::numeric_limits<real>::quiet_NaN());
  CHECK(!model.step(broken));
  CHECK(!model.step(sample({40, 50}, 1)));
  model.store.zero_grad();
  CHECK(!model.history.add());
}

TEST_CASE("rows without a gradient in any step are counted, also after a state went through a text") {
  TwoWeights model;
  CHECK(model.history.untouched_rows(model.w) == 0);  // nothing is known yet
  Array dw = history_scaled(sample({40, 50}, 1), 0);
  for (const std::size_t row : {3, 5}) dw(row, 2) = 1;
  (void)model.step(dw);
  check_near(model.history.untouched_rows(model.w), 38.0 / 40, {1e-12, 0});
  CHECK(model.history.untouched_rows(model.b) == 0);

  const LogState back = log_state(log_state_text({.gradients = model.history.state()}));
  TwoWeights resumed;
  resumed.history.restore(back.gradients.value());
  dw = history_scaled(dw, 0);
  dw(7, 0) = 1;
  const auto cosine = model.step(dw), again = resumed.step(dw);
  CHECK(cosine == again);
  check_near(model.history.untouched_rows(model.w), 37.0 / 40, {1e-12, 0});
  check_near(resumed.history.untouched_rows(resumed.w), 37.0 / 40, {1e-12, 0});
}

TEST_CASE("a state that names rows or parameters that do not exist is taken as far as it goes") {
  TwoWeights model;
  model.history.restore({{}, {{"w", {-5, 1, 2, 1000}}, {"nothing", {1}}}});
  check_near(model.history.untouched_rows(model.w), 2.0 / 40, {1e-12, 0});
  CHECK(!model.step(sample({40, 50}, 1)));
  CHECK(model.history.untouched_rows(model.w) == 0);
}

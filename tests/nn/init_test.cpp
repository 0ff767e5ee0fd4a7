#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

struct Moments {
  double mean = 0, stddev = 0, low = 0, high = 0;
};

Moments moments(const Array& x) {
  Moments out{.low = static_cast<double>(x.data()[0]), .high = static_cast<double>(x.data()[0])};
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = static_cast<double>(x.data()[i]);
    out.mean += v / static_cast<double>(x.size());
    squares += v * v / static_cast<double>(x.size());
    out.low = std::min(out.low, v);
    out.high = std::max(out.high, v);
  }
  out.stddev = std::sqrt(squares - out.mean * out.mean);
  return out;
}

Moments moments(const Init& init, const Shape& shape = {300, 200}) {
  Array x = empty_array(shape);
  Random random(17, "init");
  init(x, random);
  return moments(x);
}

/// Checks mean and standard deviation within four standard errors, and that some values lie beyond three standard
/// deviations.
void check_normal(const Init& init, double mean, double stddev) {
  const Moments m = moments(init);
  check_near(m.mean, mean, {0, 4 * stddev / std::sqrt(60000.0)});
  check_near(m.stddev, stddev, {4 / std::sqrt(2 * 60000.0), 0});
  CHECK(m.high > mean + 3 * stddev);
  CHECK(m.low < mean - 3 * stddev);
}

void check_uniform(const Init& init, double low, double high, const Shape& shape = {300, 200}) {
  const Moments m = moments(init, shape);
  const double width = high - low;
  check_near(m.mean, (low + high) / 2, {0, 4 * width / std::sqrt(12 * 60000.0)});
  check_near(m.stddev, width / std::sqrt(12.0), {0.01, 0});
  CHECK(m.low >= low - 1e-7);
  CHECK(m.high <= high + 1e-7);
  CHECK(m.low < low + 0.001 * width);
  CHECK(m.high > high - 0.001 * width);
}

}  // namespace

TEST_CASE("init: zeros, ones and constant") {
  check_equal(ParamStore().root().parameter("w", {2}, init::zeros()).value(), row({0, 0}));
  check_equal(ParamStore().root().parameter("w", {2}, init::ones()).value(), row({1, 1}));
  check_equal(ParamStore().root().parameter("w", {2}, init::constant(-2.5)).value(), row({-2.5, -2.5}));
}

TEST_CASE("init: uniform and normal have their moments and ranges") {
  check_uniform(init::uniform(-1, 3), -1, 3);
  check_normal(init::normal(2, 0.5), 2, 0.5);
  CHECK(moments(init::uniform(2, 2)).low == 2);
  CHECK(moments(init::normal(2, 0)).stddev < 1e-6);
}

TEST_CASE("init: Xavier depends on both fans, He on one") {
  // a weight [300, 200] has fan-in 200 and fan-out 300
  const double xavier = std::sqrt(6.0 / 500), he = std::sqrt(2.0) * std::sqrt(3.0 / 200);
  check_uniform(init::xavier_uniform(), -xavier, xavier);
  check_uniform(init::xavier_uniform(5.0 / 3), -xavier * 5 / 3, xavier * 5 / 3);
  check_normal(init::xavier_normal(), 0, std::sqrt(2.0 / 500));
  check_normal(init::xavier_normal(2), 0, 2 * std::sqrt(2.0 / 500));
  check_uniform(init::he_uniform(), -he, he);
  check_uniform(init::he_uniform(1, init::FanMode::out), -std::sqrt(3.0 / 300), std::sqrt(3.0 / 300));
  check_normal(init::he_normal(), 0, std::sqrt(2.0 / 200));
  check_normal(init::he_normal(1, init::FanMode::out), 0, std::sqrt(1.0 / 300));
}

TEST_CASE("init: axes after the second multiply both fans") {
  const double bound = std::sqrt(6.0 / (20 * 10 + 300 * 10));
  check_uniform(init::xavier_uniform(), -bound, bound, {300, 20, 10});
  check_uniform(init::he_uniform(1), -std::sqrt(3.0 / 200), std::sqrt(3.0 / 200), {300, 20, 10});
}

TEST_CASE("init: the defaults of PyTorch and GPT-2") {
  check_uniform(init::uniform_fan_in(25), -0.2, 0.2);
  check_normal(init::gpt2(), 0, 0.02);
  check_normal(init::gpt2_residual(8), 0, 0.005);
}

TEST_CASE("init: gains are those of PyTorch's calculate_gain") {
  CHECK(init::gain(init::Activation::linear) == 1);
  CHECK(init::gain(init::Activation::sigmoid) == 1);
  CHECK(init::gain(init::Activation::tanh) == 5.0 / 3);
  CHECK(init::gain(init::Activation::relu) == std::sqrt(2.0));
  check_near(init::gain(init::Activation::leaky_relu), std::sqrt(2 / 1.0001), {1e-15, 0});
  check_near(init::gain(init::Activation::leaky_relu, 0.2), std::sqrt(2 / 1.04), {1e-15, 0});
}

TEST_CASE("init: He keeps the variance of activations through deep relu layers") {
  ParamStore store(3);
  Tensor x = Tensor::ones({16, 256});
  const Init he = init::he_normal();
  for (index_t i = 0; i < 10; ++i) {
    Linear layer(store.root() / i, 256, 256, {.bias = false, .weight_init = he});
    x = relu(layer(x));
  }
  const Moments m = moments(x.value());
  CHECK(std::hypot(m.mean, m.stddev) > 0.4);
  CHECK(std::hypot(m.mean, m.stddev) < 2.5);
}

TEST_CASE("init refuses numbers outside their domain and weights without fans") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  check_throws<ValueError>([] { init::uniform(1, 0); },
                           "[init] expected finite bounds of uniform with low <= high, got 1");
  check_throws<ValueError>([&] { init::uniform(nan, 0); }, "expected finite bounds of uniform");
  check_throws<ValueError>([&] { init::uniform(0, infinity); }, "expected finite bounds of uniform");
  check_throws<ValueError>([] { init::uniform(-1.7e308, 1.7e308); }, "expected finite bounds of uniform");
  if (!kDouble) {  // infinite as a float
    check_throws<ValueError>([] { init::uniform(0, 1e300); }, "expected finite bounds of uniform");
    check_throws<ValueError>([] { init::normal(0, 1e300); },
                             "expected a standard deviation that is finite and at least 0, got");
    check_throws<ValueError>([] { init::he_normal(1e300); }, "expected a gain that is finite and at least 0, got");
  }
  check_throws<ValueError>([] { init::normal(0, -1); },
                           "expected a standard deviation that is finite and at least 0, got");
  for (double bad : {-1.0, nan, infinity}) {
    check_throws<ValueError>([&] { init::xavier_uniform(bad); }, "expected a gain that is finite and at least 0, got");
    check_throws<ValueError>([&] { init::xavier_normal(bad); }, "expected a gain");
    check_throws<ValueError>([&] { init::he_uniform(bad); }, "expected a gain");
    check_throws<ValueError>([&] { init::he_normal(bad); }, "expected a gain");
  }
  check_throws<ValueError>([] { init::uniform_fan_in(0); }, "expected a fan-in of at least 1, got 0");
  check_throws<ValueError>([] { init::gpt2_residual(0); }, "expected at least 1 layer, got 0");
  for (const Init& init : {init::xavier_uniform(), init::xavier_normal(), init::he_uniform(), init::he_normal()})
    check_throws<ShapeError>([&] { ParamStore().root().parameter("w", {4}, init); },
                             "expected at least two axes for fan-in and fan-out, got (4)");
}

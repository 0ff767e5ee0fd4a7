#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("RMSNorm: rows are divided by their root mean square and scaled, and the mean is not subtracted") {
  ParamStore store;
  RMSNorm layer(store.root(), 2, {.eps = 0});
  const Tensor x(array({2, 2}, {3, 4, 1, 1}));
  const double root = std::sqrt(12.5);
  check_near(layer(x).value(), array({2, 2}, {3 / root, 4 / root, 1, 1}), {tolerance(1e-12, 1e-6), 0});
  layer.weight.set_value(row({2, -1}));
  check_near(layer(x).value(), array({2, 2}, {6 / root, -4 / root, 2, -1}), {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("RMSNorm: epsilon is inside the root, and the weight can be omitted") {
  ParamStore store;
  RMSNorm layer(store.root(), 2, {.eps = 3, .affine = false});
  check_near(layer(Tensor(row({1, -1}))).value(), row({0.5, -0.5}));
  CHECK(store.entries().empty());
  RMSNorm with_weight(store.root() / "norm", 2);
  CHECK(store.entries().size() == 1);
  CHECK(store.contains("norm.weight"));
}

TEST_CASE("RMSNorm: a row of zeros gives zeros and a finite gradient") {
  ParamStore store;
  RMSNorm layer(store.root(), 3);
  Tape tape;
  const Tensor x = tape.variable(row({0, 0, 0}));
  const Tensor y = layer(x);
  check_equal(y.value(), row({0, 0, 0}));
  tape.backward(sum(y));
  check_near(tape.grad(x), row({std::sqrt(1e5), std::sqrt(1e5), std::sqrt(1e5)}), {tolerance(1e-12, 1e-5), 0});
}

TEST_CASE("RMSNorm refuses invalid options and inputs of another width") {
  ParamStore store;
  check_throws<ValueError>([&] { RMSNorm layer(store.root() / "n", 0); },
                           "[rms_norm n] expected a width of at least 1, got");
  check_throws<ValueError>([&] { RMSNorm layer(store.root() / "n", 2, {.eps = -1}); },
                           "expected an eps of at least 0, got");
  RMSNorm layer(store.root(), 3);
  check_throws<ShapeError>([&] { layer(Tensor::ones({3, 2})); }, "expected x [..., C] with C = 3, got (3,2)");
}

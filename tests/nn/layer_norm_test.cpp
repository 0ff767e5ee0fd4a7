#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("LayerNorm: rows are normalized to mean 0 and variance 1, then scaled and shifted") {
  ParamStore store;
  LayerNorm layer(store.root(), 4, {.eps = 0});
  const Tensor x(array({2, 4}, {1, 3, 5, 7, -2, -2, 2, 2}));
  const double s = std::sqrt(5.0);
  const Array normal = array({2, 4}, {-3 / s, -1 / s, 1 / s, 3 / s, -1, -1, 1, 1});
  check_near(layer(x).value(), normal, {tolerance(1e-12, 1e-6), 0});
  layer.weight.set_value(row({1, 2, 1, 2}));
  layer.bias.set_value(row({0, 0, 10, 10}));
  check_near(layer(x).value(), array({2, 4}, {-3 / s, -2 / s, 10 + 1 / s, 10 + 6 / s, -1, -2, 11, 12}),
             {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("LayerNorm: epsilon is inside the root") {
  ParamStore store;
  LayerNorm layer(store.root(), 2, {.eps = 3});
  check_near(layer(Tensor(row({-1, 1}))).value(), row({-0.5, 0.5}));  // 1 / sqrt(1 + 3)
}

TEST_CASE("LayerNorm: bias, or weight and bias, can be omitted; names are PyTorch's") {
  ParamStore store;
  LayerNorm full(store.root() / "full", 3), weight(store.root() / "gain", 3, {.bias = false}),
      none(store.root() / "none", 3, {.affine = false});
  CHECK(store.contains("full.weight"));
  CHECK(store.contains("full.bias"));
  CHECK(store.contains("gain.weight"));
  CHECK(store.entries().size() == 3);
  const Tensor x(row({1, 2, 4}));
  check_equal(none(x).value(), full(x).value());
  check_equal(weight(x).value(), full(x).value());
  CHECK_FALSE(none.weight.defined());
}

TEST_CASE("LayerNorm: an output depends on its own row only, exactly") {
  ParamStore store;
  LayerNorm layer(store.root(), 4);
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(sample({3, 4}, 2)), y = layer(x);
  for (std::size_t i = 0; i < 3; ++i) {
    Array seed = Tensor::zeros({3, 4}).value();
    seed(i, 1) = 1;
    tape.backward(y, seed);
    const Array grad = tape.grad(x);
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 4; ++c) CHECK((grad(r, c) == 0) == (r != i));
  }
}

TEST_CASE("LayerNorm: with a constant weight each row has norm |weight| sqrt(width)") {
  ParamStore store;
  LayerNorm layer(store.root(), 6, {.eps = 0});
  layer.weight.set_value(row({-3, -3, -3, -3, -3, -3}));
  const Tensor y = layer(Tensor(sample({5, 6}, 3)));
  for (std::size_t r = 0; r < 5; ++r) {
    double squares = 0;
    for (std::size_t c = 0; c < 6; ++c) squares += std::pow(static_cast<double>(y.value()(r, c)), 2);
    check_near(std::sqrt(squares), 3 * std::sqrt(6.0), {tolerance(1e-12, 1e-6), 0});
  }
}

TEST_CASE("LayerNorm refuses invalid options and inputs of another width") {
  ParamStore store;
  check_throws<ValueError>([&] { LayerNorm layer(store.root() / "n", 0); },
                           "[layer_norm n] expected a width of at least 1, got");
  check_throws<ValueError>([&] { LayerNorm layer(store.root() / "n", 2, {.eps = -1}); },
                           "expected an eps of at least 0, got");
  check_throws<ValueError>([&] { LayerNorm layer(store.root() / "n", 2, {.eps = std::nan("")}); }, "eps");
  LayerNorm layer(store.root(), 3);
  check_throws<ShapeError>([&] { layer(Tensor::ones({3, 2})); }, "expected x [..., C] with C = 3, got (3,2)");
  check_throws<ShapeError>([&] { layer(Tensor::scalar(1)); }, "got ()");
}

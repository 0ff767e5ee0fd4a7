#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("Linear: x W^T + b over the last axis, for any leading axes") {
  ParamStore store;
  Linear layer(store.root(), 3, 2);
  layer.weight.set_value(array({2, 3}, {1, 2, 3, -1, 0, 1}));
  layer.bias.set_value(row({10, 20}));
  check_equal(layer(Tensor(array({2, 3}, {1, 1, 1, 0, 2, -1}))).value(), array({2, 2}, {16, 20, 11, 19}));
  check_equal(layer(Tensor(row({1, 1, 1}))).value(), row({16, 20}));
  CHECK(layer(Tensor::ones({4, 5, 3})).shape() == Shape{4, 5, 2});
  CHECK(layer(Tensor::ones({0, 3})).shape() == Shape{0, 2});
}

TEST_CASE("Linear: parameters have PyTorch's names, shapes and initial bounds") {
  ParamStore store(4);
  Linear layer(store.root() / "head", 400, 50);
  CHECK(store.entries().size() == 2);
  CHECK(store.parameter("head.weight").shape() == Shape{50, 400});
  CHECK(store.parameter("head.bias").shape() == Shape{50});
  for (const Parameter& parameter : store.parameters()) {
    double largest = 0;
    for (real v : parameter.value()) largest = std::max(largest, std::abs(static_cast<double>(v)));
    CHECK(largest <= 0.05);
    CHECK(largest > 0.045);
  }
}

TEST_CASE("Linear: without bias, and with given initializers") {
  ParamStore store;
  Linear plain(store.root() / "plain", 2, 2, {.bias = false, .weight_init = init::ones()});
  CHECK_FALSE(plain.bias.defined());
  CHECK_FALSE(store.contains("plain.bias"));
  check_equal(plain(Tensor(row({1, 2}))).value(), row({3, 3}));
  Linear shifted(store.root() / "shifted", 2, 1, {.weight_init = init::zeros(), .bias_init = init::constant(7)});
  check_equal(shifted(Tensor(row({1, 2}))).value(), row({7}));
}

TEST_CASE("Linear refuses sizes below 1 and inputs of another width") {
  ParamStore store;
  check_throws<ValueError>([&] { Linear layer(store.root() / "a", 0, 2); },
                           "[linear a] expected sizes of at least 1, got");
  check_throws<ValueError>([&] { Linear layer(store.root() / "a", 2, -1); }, "got 2 and -1");
  CHECK(store.entries().empty());
  Linear layer(store.root(), 3, 2);
  check_throws<ShapeError>([&] { layer(Tensor::ones({2, 4})); }, "[linear]");
  check_throws<ShapeError>([&] { layer(Tensor::scalar(1)); }, "[linear]");
}

#include <xtape/models/mlp.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("mlp: a chain of linear, norm and relu, with parameters under these names") {
  for (const MlpNorm norm : {MlpNorm::none, MlpNorm::batch, MlpNorm::layer}) {
    ParamStore store(3);
    const MLP model(store.root(), {.in = 3, .out = 2, .hidden = 4, .layers = 2, .norm = norm});
    std::vector<std::string> names;
    for (const Parameter& parameter : store.parameters()) names.push_back(parameter.name());
    CHECK(names.front() == "layers.0.linear.weight");
    CHECK(names.back() == "head.bias");
    CHECK(names.size() == (norm == MlpNorm::none ? 6 : 10));
    store.eval();
    const Tensor x(array({2, 3}, {1, -2, 3, 0.5, 4, -1}));
    Tensor y = x;
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      y = linear(y, store.parameter(layer + "linear.weight"), store.parameter(layer + "linear.bias"));
      if (norm == MlpNorm::layer)
        y = layer_norm(y, store.parameter(layer + "norm.weight"), store.parameter(layer + "norm.bias"));
      if (norm == MlpNorm::batch) y = y * real(1 / std::sqrt(1 + 1e-5));  // mean 0 and variance 1 at the start
      y = relu(y);
    }
    y = linear(y, store.parameter("head.weight"), store.parameter("head.bias"));
    check_near(model(x).value(), y.value());
    check_throws<ShapeError>([&] { model(Tensor(array({1, 2}, {1, 2}))); }, "got shapes");
  }
}

TEST_CASE("mlp: sizes and names that are none") {
  ParamStore store(3);
  check_throws<ValueError>([&] { MLP(store.root() / "a", {.in = 3, .out = 2, .layers = 0}); },
                           "at least 1 hidden layer");
  check_throws<ValueError>([&] { MLP(store.root() / "b", {.in = 0, .out = 2}); }, "0");
  check_throws<ValueError>([&] { MLP(store.root() / "c", {.in = 3, .out = 2, .dropout = 2}); }, "2");
  check_throws<ValueError>([] { mlp_norm("rms"); }, "there is no norm 'rms'");
  CHECK(mlp_norm("batch") == MlpNorm::batch);
}

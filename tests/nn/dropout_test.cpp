#include <xtape/nn/dropout.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

double kept_fraction(const Array& y) {
  double kept = 0;
  for (real v : y) kept += v != 0;
  return kept / static_cast<double>(y.size());
}

}  // namespace

TEST_CASE("Dropout: in training kept elements are scaled by 1/(1-p), and about 1-p are kept") {
  ParamStore store(2);
  Dropout layer(store.root(), 0.2);
  const Array y = layer(Tensor::ones({100, 100})).value();
  for (real v : y) CHECK((v == 0 || v == static_cast<real>(1 / 0.8)));
  check_near(kept_fraction(y), 0.8, {0, 4 * std::sqrt(0.16 / 10000)});
}

TEST_CASE("Dropout: evaluation is the identity and draws no mask") {
  ParamStore store(2);
  Dropout layer(store.root() / "drop", 0.5);
  const Tensor x = Tensor::ones({8, 8});
  store.eval();
  check_equal(layer(x).value(), x.value());
  CHECK(*store.mask_counters().at("drop") == 0);
  store.train();
  CHECK(layer(x).value() != x.value());
  CHECK(*store.mask_counters().at("drop") == 1);
}

TEST_CASE("Dropout: p = 0 keeps all, p = 1 drops all, without NaN in the gradient") {
  ParamStore store;
  Dropout none(store.root() / "none", 0), all(store.root() / "all", 1);
  Tape tape;
  const Tensor x = tape.variable(row({1, -2, 3}));
  check_equal(none(x).value(), row({1, -2, 3}));
  const Tensor y = all(x);
  check_equal(y.value(), row({0, 0, 0}));
  tape.backward(sum(y));
  check_equal(tape.grad(x), row({0, 0, 0}));
}

TEST_CASE("Dropout: forward and backward use one mask") {
  ParamStore store(5);
  Dropout layer(store.root(), 0.5);
  Tape tape;
  const Tensor x = tape.variable(Tensor::ones({6, 7}).value());
  const Tensor y = layer(x);
  tape.backward(sum(y));
  check_equal(tape.grad(x), y.value());
}

TEST_CASE("Dropout: masks depend on seed, scope and call, and follow the counter") {
  const Tensor x = Tensor::ones({10, 10});
  const auto masks = [&](std::uint64_t seed, const char* scope) {
    ParamStore store(seed);
    Dropout layer(store.root() / scope, 0.5);
    const Array call = layer(x).value();  // one call after another, because the order of arguments is unspecified
    return std::pair(call, layer(x).value());
  };
  const auto [first, second] = masks(1, "a");
  CHECK(first != second);
  CHECK(masks(1, "a") == std::pair(first, second));
  CHECK(masks(2, "a").first != first);
  CHECK(masks(1, "b").first != first);

  ParamStore store(1);
  Dropout layer(store.root() / "a", 0.5);
  *store.mask_counters().at("a") = 1;
  check_equal(layer(x).value(), second);
}

TEST_CASE("Dropout refuses probabilities outside 0..1") {
  ParamStore store;
  for (double bad : {-0.1, 1.5, std::nan("")})
    check_throws<ValueError>([&] { Dropout layer(store.root(), bad); },
                             "expected a dropout probability from 0 to 1, got");
}

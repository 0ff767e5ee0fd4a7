// Dropout: probabilities 0 and 1, scaling, masks that depend on their key only.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr index_t kMany = 1000000;
constexpr RandomKey kKey{1, 2, 3};

std::size_t zeros_in(const Array& x) {
  std::size_t zeros = 0;
  for (const real value : x) zeros += value == 0;
  return zeros;
}

}  // namespace

TEST_CASE("dropout with probability 0 returns the tensor itself") {
  const Tensor x = sample({100}, 1);
  CHECK(dropout(x, 0, kKey).data() == x.data());
  Tape tape;
  const Tensor v = tape.variable(x.value());
  tape.backward(sum(dropout(v, 0, kKey)));
  check_equal(tape.grad(v), Tensor::ones({100}).value());
}

TEST_CASE("dropout with probability 1 gives zeros and zero gradients, whatever the input") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tape tape;
  const Tensor x = tape.variable(row({1, -2, nan, std::numeric_limits<double>::infinity()}));
  const Tensor y = dropout(x, 1, kKey);
  check_equal(y.value(), row({0, 0, 0, 0}));
  tape.backward(y, row({1, nan, 1, 1}));
  check_equal(tape.grad(x), row({0, 0, 0, 0}));
}

TEST_CASE("kept elements are scaled by 1/(1-p), and forward and backward use one mask") {
  for (const double p : {0.1, 0.3, 0.5, 0.9}) {
    INFO(p);
    Tape tape;
    const Tensor x = tape.variable(Tensor::ones({kMany}).value());
    const Tensor y = dropout(x, p, kKey);
    const real kept = static_cast<real>(1 / (1 - p));
    std::size_t wrong = 0;
    double total = 0;
    for (const real value : y.value()) {
      wrong += value != 0 && value != kept;
      total += static_cast<double>(value);
    }
    CHECK(wrong == 0);
    check_near(static_cast<double>(zeros_in(y.value())) / kMany, p, {0, 0.002});
    check_near(total / kMany, 1, {0, 0.01});
    tape.backward(y, Tensor::ones({kMany}).value());
    check_equal(tape.grad(x), y.value());
  }
}

TEST_CASE("the mean of ones after dropout stays near one") {
  for (const double p : {0.1, 0.3}) {
    check_near(static_cast<double>(mean(dropout(Tensor::ones({kMany}), p, kKey)).item()), 1, {0, 0.005});
  }
}

TEST_CASE("a dropout mask depends on seed, stream and call only") {
  const Tensor x = Tensor::ones({1000});
  const Array first = dropout(x, 0.5, kKey).value();
  check_equal(dropout(x, 0.5, kKey).value(), first);
  // a longer array extends the mask
  check_equal(slice(dropout(Tensor::ones({5000}), 0.5, kKey), 0, 0, 1000).value(), first);
  for (const RandomKey& other : {RandomKey{2, 2, 3}, RandomKey{1, 3, 3}, RandomKey{1, 2, 4}}) {
    const Array mask = dropout(x, 0.5, other).value();
    std::size_t equal = 0;
    for (std::size_t i = 0; i < 1000; ++i) equal += mask(i) == first(i);
    CHECK(equal > 400);
    CHECK(equal < 600);
  }
}

TEST_CASE("a dropout mask of lower probability keeps all elements that one of higher probability keeps") {
  const Array few = dropout(Tensor::ones({1000}), 0.7, kKey).value();
  const Array many = dropout(Tensor::ones({1000}), 0.2, kKey).value();
  for (std::size_t i = 0; i < 1000; ++i) CHECK((few(i) == 0 || many(i) != 0));
}

TEST_CASE("a dropout probability outside 0..1 is refused") {
  const Tensor x = Tensor::ones({3});
  for (const double bad : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
    check_throws<ValueError>([&] { (void)dropout(x, bad, kKey); },
                             "[dropout] expected a dropout probability from 0 to 1, got");
}

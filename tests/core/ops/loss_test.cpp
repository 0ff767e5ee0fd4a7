// Cross-entropy: large logits, ignored targets, reductions, bad targets.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

Evaluated loss_of(const Array& logits, const IndexArray& targets, CrossEntropyOptions options = {}) {
  return evaluate([&](Inputs a) { return cross_entropy(a[0], targets, options); }, {logits});
}

}  // namespace

TEST_CASE("cross-entropy of large logits is not clamped") {
  const Array logits = array({1, 2}, {1000, 0});
  const Evaluated wrong = loss_of(logits, {1});
  check_equal(wrong.value, array({}, {1000}));
  check_equal(wrong.grads[0], array({1, 2}, {1, -1}));
  const Evaluated right = loss_of(logits, {0});
  check_equal(right.value, array({}, {0}));
  check_equal(right.grads[0], array({1, 2}, {0, 0}));
}

TEST_CASE("a small loss between large logits keeps its precision") {
  const Evaluated got = loss_of(array({1, 2}, {4096, 4086}), {0});
  const double rest = std::exp(-10.0);
  check_near(got.value, array({}, {std::log1p(rest)}), {tolerance(1e-8, 1e-5), 0});
  check_near(got.grads[0], array({1, 2}, {-rest / (1 + rest), rest / (1 + rest)}), {tolerance(1e-8, 1e-3), 0});
}

TEST_CASE("ignored targets do not contribute to the loss") {
  const Array logits = array({2, 3}, {1, 2, 3, 1, 2, 3});
  const Evaluated half = loss_of(logits, {2, kIgnore});
  check_near(half.value, array({}, {0.4076059644}));
  check_near(half.grads[0], array({2, 3}, {0.0900305732, 0.2447284711, -0.3347590442, 0, 0, 0}));
  for (int i = 3; i < 6; ++i) CHECK(half.grads[0].data()[i] == 0);
}

TEST_CASE("if every target is ignored, the loss and its gradient are zero") {
  const Array logits = array({2, 3}, {1, 2, 3, 1, 2, 3});
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Evaluated got = loss_of(logits, {kIgnore, kIgnore}, {.reduction = reduction});
    check_equal(got.value, array({}, {0}));
    check_equal(got.grads[0], Tensor::zeros({2, 3}).value());
  }
  const Evaluated each = loss_of(logits, {kIgnore, kIgnore}, {.reduction = Reduction::none});
  check_equal(each.value, row({0, 0}));
  check_equal(each.grads[0], Tensor::zeros({2, 3}).value());
}

TEST_CASE("an ignored row may hold NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Evaluated got = loss_of(array({2, 2}, {nan, nan, 0, 0}), {kIgnore, 1});
  check_near(got.value, array({}, {std::log(2.0)}));
  check_near(got.grads[0], array({2, 2}, {0, 0, 0.5, -0.5}));
}

TEST_CASE("reductions of cross-entropy") {
  const Array logits = array({2, 1, 2}, {0, 0, 3, 1});
  const double first = std::log(2.0), second = std::log1p(std::exp(2.0));
  IndexArray targets = {0, 1};
  targets.reshape({2, 1});
  check_near(loss_of(logits, targets, {.reduction = Reduction::none}).value, array({2, 1}, {first, second}));
  check_near(loss_of(logits, targets, {.reduction = Reduction::sum}).value, array({}, {first + second}));
  check_near(loss_of(logits, targets).value, array({}, {(first + second) / 2}));
}

TEST_CASE("the gradient of cross-entropy is softmax minus one-hot, for many widths") {
  for (const std::size_t width : {1u, 2u, 15u, 16u, 17u, 65u, 600u, 1500u}) {
    INFO(width);
    const Array logits = sample({3, width}, width, -4, 4);
    const IndexArray targets = {0, static_cast<index_t>(width) - 1, static_cast<index_t>(width) / 2};
    const Evaluated got = loss_of(logits, targets, {.reduction = Reduction::sum});
    Array want = softmax(Tensor(logits)).value();
    double loss = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      const auto target = static_cast<std::size_t>(targets(r));
      loss -= std::log(static_cast<double>(want(r, target)));
      want(r, target) -= 1;
    }
    check_near(got.value, array({}, {loss}), {tolerance(1e-12, 1e-6), tolerance(1e-13, 1e-6)});
    check_near(got.grads[0], want, {tolerance(1e-11, 1e-5), tolerance(1e-14, 1e-6)});
  }
}

TEST_CASE("cross-entropy of rows with infinite logits") {
  check_equal(loss_of(array({1, 2}, {-kInf, 1}), {1}).value, array({}, {0}));
  const Evaluated impossible = loss_of(array({1, 2}, {-kInf, 1}), {0});
  check_equal(impossible.value, array({}, {kInf}));
  check_equal(impossible.grads[0], array({1, 2}, {-1, 1}));
  const Evaluated nothing = loss_of(array({1, 2}, {-kInf, -kInf}), {0});
  check_equal(nothing.value, array({}, {kInf}));
  check_equal(nothing.grads[0], array({1, 2}, {0, 0}));
}

TEST_CASE("a target out of range is refused before anything is written") {
  Parameter logits("logits", array({1, 3}, {1, 2, 3}));
  logits.set_grad(array({1, 3}, {7, 8, 9}));
  for (const index_t bad : {index_t{-4}, index_t{3}, index_t{-1}, index_t{1} << 31, index_t{255}}) {
    Tape tape;
    check_throws<IndexError>([&] { (void)cross_entropy(logits, IndexArray{bad}); },
                             "[cross_entropy] target " + std::to_string(bad) + " is outside 0..2");
  }
  check_equal(logits.grad(), array({1, 3}, {7, 8, 9}));
  check_equal(cross_entropy(logits, IndexArray{255}, {.ignore = 255}).value(), array({}, {0}));
  check_near(cross_entropy(logits, IndexArray{2}, {.ignore = 0}).value(), array({}, {0.4076059644}));
  check_equal(cross_entropy(logits, IndexArray{0}, {.ignore = 0}).value(),
              array({}, {0}));  // the id of a class may be the ignored value
}

TEST_CASE("targets of the wrong shape are refused") {
  const Tensor logits = Tensor::zeros({2, 3});
  check_throws<ShapeError>(
      [&] {
        (void)cross_entropy(logits, IndexArray{0, 1, 2});
      },
      "[cross_entropy] targets must have the logits' shape without its last axis; got shapes (2,3)");
  check_throws<ShapeError>(
      [&] {
        (void)cross_entropy(logits, IndexArray::from_shape({2, 1}));
      },
      "[cross_entropy] targets must have");
  check_throws<ShapeError>([&] { (void)cross_entropy(Tensor::scalar(1), IndexArray{0}); },
                           "[cross_entropy] targets must have");
}

// concat, stack and split: values, known gradients, errors.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

}  // namespace

TEST_CASE("concat joins along any axis") {
  const Tensor a = counting({2, 2}), b = array({2, 1}, {8, 9});
  check_equal(concat({a, b}, 1).value(), array({2, 3}, {0, 1, 8, 2, 3, 9}));
  check_equal(concat({a, b, a}, -1).value(), array({2, 5}, {0, 1, 8, 0, 1, 2, 3, 9, 2, 3}));
  check_equal(concat({a, transpose(b)}, 0).value(), array({3, 2}, {0, 1, 2, 3, 8, 9}));
  check_equal(concat({Tensor::zeros({2, 0}), a}, 1).value(), a.value());
  check_equal(concat({a}, 0).value(), a.value());
}

TEST_CASE("a tensor concatenated with itself gets both gradients") {
  const Evaluated got =
      evaluate([](Inputs x) { return concat({x[0], x[0]}, -1); }, {row({1, 2})}, row({1, 10, 100, 1000}));
  check_equal(got.grads[0], row({101, 1010}));
}

TEST_CASE("concat refuses parts that do not match") {
  const Tensor a = counting({2, 2});
  check_throws<ValueError>([&] { (void)concat({}, 0); }, "[concat] expected at least one tensor, got none");
  check_throws<ShapeError>([&] { (void)concat({a, counting({3, 2})}, 1); },
                           "[concat] expected (2,2) except for axis 1, got (3,2)");
  check_throws<ShapeError>([&] { (void)concat({a, counting({2})}, 0); }, "expected (2,2) except for axis 0, got (2)");
  check_throws<ShapeError>([&] { (void)concat({a, a}, 2); }, "[concat] expected an axis of shape");
  check_throws<ShapeError>([&] { (void)concat({Tensor::zeros({}), Tensor::zeros({})}, 0); },
                           "expected an axis of shape (), got 0");
}

TEST_CASE("stack adds a new axis at any position") {
  const Tensor a = array({2, 2}, {1, 2, 3, 4}), b = array({2, 2}, {5, 6, 7, 8});
  check_equal(stack({a, b}).value(), array({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  check_equal(stack({a, b}, 1).value(), array({2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8}));
  check_equal(stack({a, b}, -1).value(), array({2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8}));
  check_equal(stack({a, b}, 2).value(), stack({a, b}, -1).value());
  check_equal(stack({Tensor::scalar(1), Tensor::scalar(2), Tensor::scalar(3)}).value(), row({1, 2, 3}));
  CHECK(stack({Tensor::zeros({0, 2}), Tensor::zeros({0, 2})}, 1).shape() == Shape{0, 2, 2});
}

TEST_CASE("a tensor stacked twice gets both gradients") {
  const auto f = [](Inputs x) { return stack({x[0], x[0]}, 1); };
  check_equal(evaluate(f, {row({1, 2})}, array({2, 2}, {1, 10, 100, 1000})).grads[0], row({11, 1100}));
}

TEST_CASE("stack refuses different shapes, no tensors, and invalid axes") {
  const Tensor a = row({1, 2}), b = row({1, 2, 3});
  check_throws<ShapeError>([&] { stack({a, b}); }, "[stack] expected tensors of shape (2), got (3)");
  check_throws<ValueError>([] { stack({}); }, "[stack] expected at least one tensor, got none");
  check_throws<ShapeError>([&] { stack({a, a}, 2); },
                           "[stack] expected a place for a further axis of shape (2), got 2");
  check_throws<ShapeError>([&] { stack({a, a}, -3); }, "[stack]");
}

TEST_CASE("split makes pieces of one size; the last may be shorter") {
  const std::vector<Tensor> parts = split(counting({2, 5}), 2, 1);
  REQUIRE(parts.size() == 3);
  check_equal(parts[0].value(), array({2, 2}, {0, 1, 5, 6}));
  check_equal(parts[1].value(), array({2, 2}, {2, 3, 7, 8}));
  check_equal(parts[2].value(), array({2, 1}, {4, 9}));
  CHECK(split(counting({4, 1}), 4).size() == 1);
  REQUIRE(split(Tensor::zeros({0, 2}), 3).size() == 1);  // as torch.split does
  CHECK(split(Tensor::zeros({0, 2}), 3)[0].shape() == Shape{0, 2});
}

TEST_CASE("split by sizes, and the gradient of pieces that are used or not") {
  const Tensor x = counting({4});
  const std::vector<Tensor> parts = split_with_sizes(x, {1, 0, 3});
  check_equal(parts[0].value(), row({0}));
  CHECK(parts[1].numel() == 0);
  check_equal(parts[2].value(), row({1, 2, 3}));
  const auto f = [](Inputs a) {
    const std::vector<Tensor> p = split_with_sizes(a[0], {1, 2, 1}, -1);
    return p[0] * p[2];
  };
  check_equal(evaluate(f, {row({2, 3, 4, 5})}).grads[0], row({5, 0, 0, 2}));
}

TEST_CASE("split refuses sizes that do not match") {
  const Tensor x = counting({4});
  check_throws<ValueError>([&] { split(x, 0); }, "[split] expected pieces of at least 1, got 0");
  check_throws<ValueError>([&] { split_with_sizes(x, {1, 2}); },
                           "[split] expected sizes of at least 0 that add up to 4, got (");
  check_throws<ValueError>([&] { split_with_sizes(x, {1, 4}); }, "add up to 4");
  check_throws<ValueError>([&] { split_with_sizes(x, {5, -1}); }, "[split]");
  check_throws<ValueError>([&] { split_with_sizes(x, {-1, 5}); }, "[split]");
  check_throws<ShapeError>([&] { split(x, 1, 1); }, "[split] expected an axis of shape");
}

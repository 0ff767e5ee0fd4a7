// stack, split, squeeze, unsqueeze, broadcast_to and flip: values, known gradients, errors.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

}  // namespace

TEST_CASE("stack adds a new axis at any position") {
  const Tensor a = array({2, 2}, {1, 2, 3, 4}), b = array({2, 2}, {5, 6, 7, 8});
  check_equal(stack({a, b}).value(), array({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  check_equal(stack({a, b}, 1).value(), array({2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8}));
  check_equal(stack({a, b}, -1).value(), array({2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8}));
  check_equal(stack({a, b}, 2).value(), stack({a, b}, -1).value());
  check_equal(stack({Tensor::scalar(1), Tensor::scalar(2), Tensor::scalar(3)}).value(), row({1, 2, 3}));
  CHECK(same_shape(stack({Tensor::zeros({0, 2}), Tensor::zeros({0, 2})}, 1).shape(), Shape{0, 2, 2}));
}

TEST_CASE("a tensor stacked twice gets both gradients") {
  const auto f = [](Inputs x) { return stack({x[0], x[0]}, 1); };
  check_equal(evaluate(f, {row({1, 2})}, array({2, 2}, {1, 10, 100, 1000})).grads[0], row({11, 1100}));
}

TEST_CASE("stack refuses different shapes, no tensors, and invalid axes") {
  const Tensor a = row({1, 2}), b = row({1, 2, 3});
  check_throws<ShapeError>([&] { stack({a, b}); }, "[stack] the shapes must agree; got shapes (2) and (3)");
  check_throws<ValueError>([] { stack({}); }, "[stack] there is nothing to stack");
  check_throws<ShapeError>([&] { stack({a, a}, 2); }, "[stack] there is no place 2 for a further axis; got shape (2)");
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
  CHECK(same_shape(split(Tensor::zeros({0, 2}), 3)[0].shape(), {0, 2}));
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
  check_throws<ValueError>([&] { split(x, 0); }, "[split] the size of a piece must be at least 1, not 0");
  check_throws<ValueError>([&] { split_with_sizes(x, {1, 2}); }, "[split] the sizes must add up to 4");
  check_throws<ValueError>([&] { split_with_sizes(x, {1, 4}); }, "add up to 4");
  check_throws<ValueError>([&] { split_with_sizes(x, {5, -1}); }, "[split]");
  check_throws<ValueError>([&] { split_with_sizes(x, {-1, 5}); }, "[split]");
  check_throws<ShapeError>([&] { split(x, 1, 1); }, "[split] axis 1 does not exist");
}

TEST_CASE("squeeze and unsqueeze remove and add axes of size 1") {
  const Tensor x = counting({1, 2, 1, 3});
  CHECK(same_shape(squeeze(x).shape(), Shape{2, 3}));
  CHECK(same_shape(squeeze(x, {0}).shape(), Shape{2, 1, 3}));
  CHECK(same_shape(squeeze(x, {-2, 0}).shape(), Shape{2, 3}));
  CHECK(same_shape(unsqueeze(x, 0).shape(), Shape{1, 1, 2, 1, 3}));
  CHECK(same_shape(unsqueeze(x, -1).shape(), Shape{1, 2, 1, 3, 1}));
  CHECK(same_shape(unsqueeze(Tensor::scalar(1), 0).shape(), Shape{1}));
  check_equal(squeeze(x).value(), counting({2, 3}));
  check_throws<ShapeError>([&] { squeeze(x, {1}); }, "[squeeze] axis 1 is not of extent 1; got shape (1,2,1,3)");
  check_throws<ShapeError>([&] { squeeze(x, {4}); }, "[squeeze] axis 4 does not exist");
  check_throws<ShapeError>([&] { unsqueeze(x, 5); }, "[unsqueeze] there is no place 5");
  check_throws<ShapeError>([&] { unsqueeze(x, -6); }, "[unsqueeze] there is no place -6");
}

TEST_CASE("broadcast_to repeats, and its gradient sums over the repetitions") {
  const auto f = [](Inputs x) { return broadcast_to(x[0], {2, 2, 3}); };
  const Evaluated e = evaluate(f, {array({2, 1}, {1, 2})}, counting({2, 2, 3}));
  check_equal(e.value, array({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  check_equal(e.grads[0], array({2, 1}, {24, 42}));
  check_equal(broadcast_to(Tensor::scalar(4), {2}).value(), row({4, 4}));
  CHECK(same_shape(broadcast_to(Tensor::scalar(4), {0, 2}).shape(), Shape{0, 2}));
}

TEST_CASE("broadcast_to refuses shapes that the tensor does not broadcast to") {
  const Tensor x = row({1, 2});
  check_throws<ShapeError>([&] { broadcast_to(x, {3}); }, "[broadcast_to]");
  check_throws<ShapeError>([&] { broadcast_to(x, {1}); }, "[broadcast_to] the tensor does not broadcast to the shape");
  check_throws<ShapeError>([&] { broadcast_to(array({1, 2}, {1, 2}), {2}); }, "[broadcast_to]");
  check_throws<ValueError>([&] { broadcast_to(x, {-1, 2}); }, "[broadcast_to] an extent must not be negative");
}

TEST_CASE("flip reverses axes, and twice gives the tensor back") {
  const Tensor x = counting({2, 3});
  check_equal(flip(x, {0}).value(), array({2, 3}, {3, 4, 5, 0, 1, 2}));
  check_equal(flip(x, {-1}).value(), array({2, 3}, {2, 1, 0, 5, 4, 3}));
  check_equal(flip(x).value(), array({2, 3}, {5, 4, 3, 2, 1, 0}));
  const Tensor cube = sample({3, 4, 5}, 1);
  check_equal(flip(flip(cube, {0, 2}), {2, 0}).value(), cube.value());
  const auto f = [](Inputs a) { return flip(a[0], {1}); };
  check_equal(evaluate(f, {x.value()}, x.value()).grads[0], array({2, 3}, {2, 1, 0, 5, 4, 3}));
  CHECK(same_shape(flip(Tensor::zeros({2, 0})).shape(), Shape{2, 0}));
  check_throws<ShapeError>([&] { flip(x, {2}); }, "[flip] axis 2 does not exist");
  check_throws<ShapeError>([&] { flip(x, {1, -1}); }, "[flip] an axis is named twice");
}

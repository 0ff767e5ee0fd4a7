// where, masked_fill, clamp, maximum, minimum and comparisons: values, infinities and NaN in unselected elements,
// errors.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

void check_mask(const Mask& got, const Shape& shape, std::initializer_list<bool> want) {
  CHECK(same_shape(got.shape(), shape));
  REQUIRE(got.size() == want.size());
  CHECK(std::equal(want.begin(), want.end(), got.data()));
}

}  // namespace

TEST_CASE("where takes the first operand where the mask is true") {
  const Mask choice = mask({2, 3}, {true, false, true, false, true, false});
  const Tensor a = array({2, 3}, {1, 2, 3, 4, 5, 6}), b = array({3}, {-1, -2, -3}), s = Tensor::scalar(9);
  check_equal(where(choice, a, b).value(), array({2, 3}, {1, -2, 3, -1, 5, -3}));
  check_equal(where(choice, s, b).value(), array({2, 3}, {9, -2, 9, -1, 9, -3}));
  const Mask column = mask({2, 1}, {true, false});
  check_equal(where(column, a, b).value(), array({2, 3}, {1, 2, 3, -1, -2, -3}));
  check_equal(where(column, s, s).value(), array({2, 1}, {9, 9}));
}

TEST_CASE("where selects and does not multiply: the unselected operand may be infinite or NaN") {
  const Mask choice = mask({2}, {true, false});
  const auto f = [&](Inputs x) { return where(choice, x[0], x[1]); };
  const Evaluated e = evaluate(f, {row({1, kInf}), row({kNaN, 2})});
  check_equal(e.value, row({1, 2}));
  check_equal(e.grads[0], row({1, 0}));
  check_equal(e.grads[1], row({0, 1}));
}

TEST_CASE("masked_fill ignores the upstream gradient of filled elements, even NaN") {
  const Mask filled = mask({2}, {false, true});
  const auto f = [&](Inputs x) { return masked_fill(x[0], filled, -kInfinity); };
  const Evaluated e = evaluate(f, {row({1, 2})}, row({1, kNaN}));
  check_equal(e.value, row({1, -kInf}));
  check_equal(e.grads[0], row({1, 0}));
}

TEST_CASE("the unselected branch of where may overflow") {
  const auto f = [](Inputs x) {
    const Tensor low = exp(clamp(x[0], -kInfinity, 0));
    return where(le(x[0], 0), low, x[0] + real(1));
  };
  const Evaluated e = evaluate(f, {row({100})});
  check_equal(e.value, row({101}));
  check_equal(e.grads[0], row({1}));
}

TEST_CASE("a division guarded by where has no NaN in its gradient") {
  const Tensor d = row({0, 1});
  const Mask zero = eq(d, 0);
  const auto f = [&](Inputs x) {
    const Tensor one = Tensor::scalar(1), none = Tensor::scalar(0);
    return where(zero, none, x[0] / where(zero, one, d));
  };
  check_equal(evaluate(f, {row({1, 1})}).grads[0], row({0, 1}));
}

TEST_CASE("masked_fill broadcasts the mask to the tensor, not the tensor to the mask") {
  const Tensor x = array({2, 2}, {1, 2, 3, 4});
  const Mask wide = mask({1, 2, 2}, {true, false, true, false});
  const Mask one = mask({2}, {false, true});
  check_equal(masked_fill(x, one, 0).value(), array({2, 2}, {1, 0, 3, 0}));
  check_throws<ShapeError>([&] { masked_fill(x, wide, 0); }, "[masked_fill] the mask does not broadcast to the tensor");
  const Mask three = mask({3}, {true, false, true});
  check_throws<ShapeError>([&] { masked_fill(x, three, 0); }, "[masked_fill]");
  check_throws<ShapeError>([&] { where(three, x, x); }, "[where] the operands do not broadcast");
}

TEST_CASE("clamp keeps elements within the bounds, and NaN") {
  const Tensor x = row({-5, -1, 0.5, 2, 7, kNaN, kInf});
  check_equal(clamp(x, -1, 2).value(), row({-1, -1, 0.5, 2, 2, kNaN, 2}));
  check_equal(clamp(x, 0).value(), row({0, 0, 0.5, 2, 7, kNaN, kInf}));
  check_equal(clamp(x, -kInfinity, 0).value(), row({-5, -1, 0, 0, 0, kNaN, 0}));
  const Evaluated e = evaluate([](Inputs a) { return clamp(a[0], 0, 1); }, {row({-1, 0.5, 3})}, row({kNaN, 2, kInf}));
  check_equal(e.grads[0], row({0, 2, 0}));
}

TEST_CASE("clamp refuses a lower bound above the upper one") {
  const Tensor x = row({1});
  check_throws<ValueError>([&] { clamp(x, 2, 1); }, "[clamp] the lower bound must not exceed the upper");
  check_throws<ValueError>([&] { clamp(x, static_cast<real>(kNaN), 1); }, "[clamp]");
  check_equal(clamp(x, 2, 2).value(), row({2}));
}

TEST_CASE("maximum and minimum of two tensors broadcast and keep NaN") {
  const Tensor a = array({2, 1}, {1, 4}), b = row({0, 2, 5});
  check_equal(maximum(a, b).value(), array({2, 3}, {1, 2, 5, 4, 4, 5}));
  check_equal(minimum(a, b).value(), array({2, 3}, {0, 1, 1, 0, 2, 4}));
  const Tensor one_nan = row({kNaN, 1}), other_nan = row({1, kNaN});
  check_equal(maximum(one_nan, other_nan).value(), row({kNaN, kNaN}));
  check_equal(minimum(one_nan, other_nan).value(), row({kNaN, kNaN}));
  const Tensor three = row({1, 2, 3}), two = row({1, 2});
  check_throws<ShapeError>([&] { maximum(three, two); },
                           "[maximum] the operands do not broadcast; got shapes (3) and (2)");
  check_throws<ShapeError>([&] { minimum(three, two); }, "[minimum]");
}

TEST_CASE("the operand that maximum does not select gets no gradient, whatever the upstream gradient") {
  const Evaluated e =
      evaluate([](Inputs x) { return maximum(x[0], x[1]); }, {row({1, 5}), row({3, 2})}, row({kInf, kNaN}));
  check_equal(e.grads[0], row({0, kNaN}));
  check_equal(e.grads[1], row({kInf, 0}));
}

TEST_CASE("comparisons return masks and broadcast") {
  const Tensor a = array({2, 1}, {1, 2}), b = row({1, 2, kNaN});
  check_mask(eq(a, b), {2, 3}, {true, false, false, false, true, false});
  check_mask(ne(a, b), {2, 3}, {false, true, true, true, false, true});
  check_mask(lt(a, b), {2, 3}, {false, true, false, false, false, false});
  check_mask(le(a, b), {2, 3}, {true, true, false, false, true, false});
  check_mask(gt(a, b), {2, 3}, {false, false, false, true, false, false});
  check_mask(ge(a, b), {2, 3}, {true, false, false, true, true, false});
  const Tensor c = row({1, 2, 3});
  check_mask(eq(c, 2), {3}, {false, true, false});
  check_mask(ne(c, 2), {3}, {true, false, true});
  check_mask(lt(c, 2), {3}, {true, false, false});
  check_mask(le(c, 2), {3}, {true, true, false});
  check_mask(gt(c, 2), {3}, {false, false, true});
  check_mask(ge(c, 2), {3}, {false, true, true});
  const Tensor two = row({1, 2});
  check_throws<ShapeError>([&] { lt(c, two); }, "[lt] the operands do not broadcast");
}

TEST_CASE("selection of empty and of long arrays") {
  const Tensor none = Tensor::zeros({0, 3});
  CHECK(same_shape(where(lt(none, 1), none, Tensor::scalar(1)).shape(), Shape{0, 3}));
  CHECK(same_shape(maximum(none, Tensor::scalar(1)).shape(), Shape{0, 3}));
  const Tensor x = sample({70001}, 1), y = sample({70001}, 2);
  const Array got = where(gt(x, y), x, y).value();
  check_equal(got, maximum(x, y).value());
  bool right = true;
  for (std::size_t i = 0; i < got.size(); ++i) right = right && got.data()[i] == std::max(x.data()[i], y.data()[i]);
  CHECK(right);
}

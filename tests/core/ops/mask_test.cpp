// Comparisons, where, masked_fill and masks from lengths: values, no influence of unselected elements, errors.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

void check_mask(const Mask& got, const Shape& shape, std::initializer_list<bool> want) {
  CHECK(got.shape() == shape);
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
  check_throws<ShapeError>([&] { masked_fill(x, wide, 0); }, "[masked_fill] expected a mask that broadcasts to");
  const Mask three = mask({3}, {true, false, true});
  check_throws<ShapeError>([&] { masked_fill(x, three, 0); }, "[masked_fill]");
  check_throws<ShapeError>([&] { where(three, x, x); }, "[where] expected shapes that broadcast, got");
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
  check_throws<ShapeError>([&] { lt(c, two); }, "[lt] expected shapes that broadcast, got");
}

TEST_CASE("where and maximum of empty and of long arrays") {
  const Tensor none = Tensor::zeros({0, 3});
  CHECK(where(lt(none, 1), none, Tensor::scalar(1)).shape() == Shape{0, 3});
  CHECK(maximum(none, Tensor::scalar(1)).shape() == Shape{0, 3});
  const Tensor x = sample({70001}, 1), y = sample({70001}, 2);
  const Array got = where(gt(x, y), x, y).value();
  check_equal(got, maximum(x, y).value());
  bool right = true;
  for (std::size_t i = 0; i < got.size(); ++i) right = right && got.data()[i] == std::max(x.data()[i], y.data()[i]);
  CHECK(right);
}

TEST_CASE("padding_mask and causal_mask") {
  CHECK(padding_mask({2, 0, 3}, 3) == Mask{{false, false, true}, {true, true, true}, {false, false, false}});
  check_throws<IndexError>([] { (void)padding_mask({1, 4}, 3); }, "[padding_mask] expected lengths in 0..3, got 4");
  check_throws<IndexError>([] { (void)padding_mask({-1}, 3); }, "[padding_mask] expected lengths in 0..3, got -1");
  check_throws<ShapeError>([] { (void)padding_mask(IndexArray::from_shape({1, 2}), 3); },
                           "[padding_mask] expected lengths [B], got (1,2)");
  check_throws<ValueError>([] { (void)padding_mask({0}, -1); }, "[padding_mask] expected sizes of at least 0, got -1");
  check_throws<ValueError>([] { (void)causal_mask(2, -3); }, "[causal_mask] expected sizes of at least 0, got");
  check_throws<ValueError>([] { (void)causal_mask(-1, 2); }, "[causal_mask] expected sizes of at least 0, got -1");
  CHECK(causal_mask(3, 3) == Mask{{false, true, true}, {false, false, true}, {false, false, false}});
  const Mask one_key = causal_mask(3, 1);
  CHECK((one_key(0, 0) && one_key(1, 0) && !one_key(2, 0)));
}

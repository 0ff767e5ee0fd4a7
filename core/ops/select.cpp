#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/mask.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/select.hpp>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Binary;
using kernels::Compare;

namespace {

/// The mask under a shape that it broadcasts to.
Mask expanded(const char* op, Mask mask, const Shape& shape) {
  if (same_shape(mask.shape(), shape)) return mask;
  if (shape.size() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>(op, "a mask of more than 12 axes does not broadcast", {mask.shape(), shape});
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) loop.size[i] = static_cast<index_t>(shape[i]);
  broadcast_strides(mask.shape(), shape.size(), loop.stride);
  Mask out(shape);
  kernels::expand_mask(loop, mask.data(), out.data());
  return out;
}

/// Adds dy to an input where the mask is `when`, and nothing elsewhere.
void add_where(Grads& g, std::size_t input, const Shape& shape, const Mask& mask, bool when, const Array& dy) {
  if (!g.needs(input)) return;
  if (same_shape(shape, dy.shape())) {
    const Output to = g.buffer(input);
    kernels::select_or_zero(mask.data(), when, dy.data(), to.data, to.add, count_of(dy));
  } else {
    Array term(dy.shape());
    kernels::select_or_zero(mask.data(), when, dy.data(), term.data(), false, count_of(dy));
    g.add(input, term);
  }
}

}  // namespace

Tensor where(Mask mask, Tensor a, Tensor b) {
  const Shape shape = broadcast_shape("where", broadcast_shape("where", a.shape(), b.shape()), mask.shape());
  Mask full = expanded("where", std::move(mask), shape);
  const BroadcastPlan p = broadcast_plan("where", shape, a.shape(), b.shape());
  Array y(shape);
  if (p.contiguous) kernels::select(full.data(), a.data(), p.step_a, b.data(), p.step_b, y.data(), count_of(y));
  else kernels::select_strided(full.data(), p.loop, a.data(), b.data(), y.data());
  return Tape::record("where", {a, b}, Tensor(std::move(y)),
                      [full = std::move(full), a = a.shape(), b = b.shape()](const Array& dy, Grads& g) {
                        add_where(g, 0, a, full, true, dy);
                        add_where(g, 1, b, full, false, dy);
                      });
}

Tensor masked_fill(const Tensor& x, const Mask& mask, real value) {
  if (!same_shape(broadcast_shape("masked_fill", x.shape(), mask.shape()), x.shape()))
    fail_shapes<Shape>("masked_fill", "the mask does not broadcast to the tensor", {x.shape(), mask.shape()});
  Mask full = expanded("masked_fill", mask, x.shape());
  Array y(x.shape());
  kernels::select(full.data(), &value, 0, x.data(), 1, y.data(), count_of(y));
  return Tape::record("masked_fill", {x}, Tensor(std::move(y)), [mask = std::move(full)](const Array& dy, Grads& g) {
    add_where(g, 0, dy.shape(), mask, false, dy);
  });
}

Tensor clamp(const Tensor& x, real low, real high) {
  if (!(low <= high))
    throw ValueError("clamp", "the lower bound must not exceed the upper, but they are " + std::to_string(low) +
                                  " and " + std::to_string(high));
  return unary_op("clamp", kernels::Unary::clamp, x, true, {.a = low, .b = high});
}

namespace {

/// Where one operand wins it gets the gradient, at ties half of it.
Tensor extreme_of_two(const char* op, Binary f, const Tensor& a, const Tensor& b) {
  const bool largest = f == Binary::max;
  return Tape::record(op, {a, b}, broadcast_binary(op, f, a.value(), b.value()),
                      [op, largest, a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
                        const auto mul_no_nan = [&](std::size_t input, bool a_first) {
                          if (!g.needs(input)) return;
                          const Tensor share = a_first ? broadcast_binary(op, Binary::max_share, a.value(), b.value())
                                                       : broadcast_binary(op, Binary::max_share, b.value(), a.value());
                          g.add(input, broadcast_binary(op, Binary::mul_no_nan, share.value(), dy).value());
                        };
                        mul_no_nan(0, largest);
                        mul_no_nan(1, !largest);
                      });
}

Mask compared(const char* caller, Compare f, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shape(caller, a.shape(), b.shape());
  const BroadcastPlan p = broadcast_plan(caller, shape, a.shape(), b.shape());
  Mask mask(shape);
  const auto count = static_cast<index_t>(mask.size());
  if (p.contiguous) kernels::compare(f, a.data(), p.step_a, b.data(), p.step_b, mask.data(), count);
  else kernels::compare_strided(f, p.loop, a.data(), b.data(), mask.data());
  return mask;
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) { return extreme_of_two("maximum", Binary::max, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return extreme_of_two("minimum", Binary::min, a, b); }

Mask eq(const Tensor& a, const Tensor& b) { return compared("eq", Compare::equal, a, b); }
Mask ne(const Tensor& a, const Tensor& b) { return compared("ne", Compare::not_equal, a, b); }
Mask lt(const Tensor& a, const Tensor& b) { return compared("lt", Compare::less, a, b); }
Mask le(const Tensor& a, const Tensor& b) { return compared("le", Compare::less_equal, a, b); }
Mask gt(const Tensor& a, const Tensor& b) { return compared("gt", Compare::less, b, a); }
Mask ge(const Tensor& a, const Tensor& b) { return compared("ge", Compare::less_equal, b, a); }

Mask eq(const Tensor& a, real b) { return eq(a, Tensor::scalar(b)); }
Mask ne(const Tensor& a, real b) { return ne(a, Tensor::scalar(b)); }
Mask lt(const Tensor& a, real b) { return lt(a, Tensor::scalar(b)); }
Mask le(const Tensor& a, real b) { return le(a, Tensor::scalar(b)); }
Mask gt(const Tensor& a, real b) { return gt(a, Tensor::scalar(b)); }
Mask ge(const Tensor& a, real b) { return ge(a, Tensor::scalar(b)); }

GradCases select_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array a = sample({2, 3}, 101), b = sample({2, 3}, 102), row = sample({3}, 103), cube = sample({4, 1, 3}, 104);
  const Array column = sample({2, 1}, 105), scalar = sample({}, 106), wide = sample({2, 3}, 107, -3, 3);
  const Mask mask = {{true, false, true}, {false, false, true}};
  const Mask mask_row = {true, false, true};
  GradCases cases;
  const auto choice = [&](const char* title, const Array& first, const Array& second) {
    cases.push_back({"maximum", title, {first, second}, [](Args x) { return maximum(x[0], x[1]); }});
    cases.push_back({"minimum", title, {first, second}, [](Args x) { return minimum(x[0], x[1]); }});
    cases.push_back({"where", title, {first, second}, [=](Args x) { return where(mask, x[0], x[1]); }});
  };
  choice("same shape", a, b);
  choice("row", a, row);
  choice("both broadcast", cube, column);
  choice("scalar", a, scalar);
  cases.push_back({"where", "the mask broadcasts", {a, b}, [=](Args x) { return where(mask_row, x[0], x[1]); }});
  cases.push_back({"where", "the mask has most axes", {row, scalar}, [=](Args x) { return where(mask, x[0], x[1]); }});
  cases.push_back({"masked_fill", "", {a}, [=](Args x) { return masked_fill(x[0], mask, 7); }});
  cases.push_back({"masked_fill", "the mask broadcasts", {a}, [=](Args x) { return masked_fill(x[0], mask_row, 7); }});
  cases.push_back({"clamp", "both sides", {wide}, [](Args x) { return clamp(x[0], -1, real(1.5)); }});
  cases.push_back({"clamp", "from below", {wide}, [](Args x) { return clamp(x[0], real(0.5)); }});
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/mask.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/mask.hpp>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Compare;

namespace {

/// The mask broadcast to a shape.
Mask expanded(const char* op, Mask mask, const Shape& shape) {
  if (mask.shape() == shape) return mask;
  const kernels::StridedLoop loop = broadcast_loop(op, shape, mask.shape());
  Mask out = empty_array<Mask>(shape);
  kernels::expand_mask(loop, mask.data(), out.data());
  return out;
}

/// Adds dy to the gradient of an input where the mask equals `when`.
void add_where(Grads& g, index_t input, const Shape& shape, const Mask& mask, bool when, const Array& dy) {
  if (!g.needs(input)) return;
  if (shape == dy.shape()) {
    kernels::select_or_zero(mask.data(), when, dy.data(), g.buffer(input), numel(dy));
  } else {
    Array term = empty_array(dy.shape());
    kernels::select_or_zero(mask.data(), when, dy.data(), {term.data()}, numel(dy));
    g.add(input, term);
  }
}

}  // namespace

// By value on purpose: see mask.hpp.
Tensor where(Mask mask, Tensor a, Tensor b) {  // NOLINT(performance-unnecessary-value-param)
  const Shape shape = broadcast_shape("where", broadcast_shape("where", a.shape(), b.shape()), mask.shape());
  Mask full = expanded("where", std::move(mask), shape);
  Array y = empty_array(shape);
  kernels::select_strided(full.data(), broadcast_loop("where", shape, a.shape(), b.shape()), a.data(), b.data(),
                          y.data());
  return Tape::record("where", {a, b}, Tensor(std::move(y)),
                      [full = std::move(full), a = a.shape(), b = b.shape()](const Array& dy, Grads& g) {
                        add_where(g, 0, a, full, true, dy);
                        add_where(g, 1, b, full, false, dy);
                      });
}

Tensor masked_fill(const Tensor& x, const Mask& mask, real value) {
  if (broadcast_shape("masked_fill", x.shape(), mask.shape()) != x.shape())
    throw ShapeError("masked_fill", "a mask that broadcasts to " + shape_text(x.shape()), mask.shape());
  Mask full = expanded("masked_fill", mask, x.shape());
  Array y = empty_array(x.shape());
  kernels::select(full.data(), &value, 0, x.data(), 1, y.data(), numel(y));
  return Tape::record("masked_fill", {x}, Tensor(std::move(y)), [mask = std::move(full)](const Array& dy, Grads& g) {
    add_where(g, 0, dy.shape(), mask, false, dy);
  });
}

namespace {

Mask compared(const char* caller, Compare f, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shape(caller, a.shape(), b.shape());
  Mask mask = empty_array<Mask>(shape);
  kernels::compare_strided(f, broadcast_loop(caller, shape, a.shape(), b.shape()), a.data(), b.data(), mask.data());
  return mask;
}

}  // namespace

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

namespace {

void check_size(const char* op, index_t size) {
  if (size < 0) throw ValueError(op, "sizes of at least 0", size);
}

}  // namespace

Mask padding_mask(const IndexArray& lengths, index_t keys) {
  if (lengths.dimension() != 1) throw ShapeError("padding_mask", "lengths [B]", lengths.shape());
  check_size("padding_mask", keys);
  Mask out = empty_array<Mask>({numel(lengths), keys});
  for (index_t b = 0; b < numel(lengths); ++b) {
    const index_t length = lengths.data()[b];
    check_index("padding_mask", "lengths", length, 0, keys);
    for (index_t s = 0; s < keys; ++s) out.data()[b * keys + s] = s >= length;
  }
  return out;
}

Mask causal_mask(index_t queries, index_t keys) {
  for (index_t size : {queries, keys}) check_size("causal_mask", size);
  Mask out = empty_array<Mask>({queries, keys});
  for (index_t t = 0; t < queries; ++t)
    for (index_t s = 0; s < keys; ++s) out.data()[t * keys + s] = s > t + keys - queries;
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

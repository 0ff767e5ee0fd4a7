#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/shape.hpp>
#include <xtape/core/ops/heads.hpp>
#include <xtape/core/threads.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// From [B, H, T, D] in order to columns of a [B, T, columns] array.
kernels::StridedLoop head_loop(index_t batches, index_t heads, index_t time, index_t width, index_t columns) {
  kernels::StridedLoop loop;
  loop.rank = 4;
  const index_t sizes[] = {batches, heads, time, width}, strides[] = {time * columns, width, columns, 1};
  for (int i = 0; i < 4; ++i) {
    loop.size[i] = sizes[i];
    loop.stride[i] = strides[i];
  }
  return loop;
}

}  // namespace

Tensor split_heads(const Tensor& x, index_t first, index_t heads, index_t width) {
  if (x.rank() != 3 || first < 0 || heads < 1 || width < 1 || heads > (x.size(2) - first) / width)
    fail_shapes<Shape>("split_heads",
                       "x must be [B, T, C] with " + std::to_string(heads) + " heads of " + std::to_string(width) +
                           " columns from column " + std::to_string(first) + " on",
                       {x.shape()});
  const kernels::StridedLoop loop = head_loop(x.size(0), heads, x.size(1), width, x.size(2));
  Array y(shape_of({x.size(0), heads, x.size(1), width}));
  kernels::copy_from_strided(loop, offset_pointer(x.data(), first), y.data(), false);
  return Tape::record("split_heads", {x}, Tensor(std::move(y)),
                      [loop, first, size = x.numel()](const Array& dy, Grads& g) {
                        const Output dx = g.buffer(0);
                        if (!dx.add) kernels::fill(dx.data, 0, size);
                        kernels::copy_to_strided(loop, dy.data(), offset_pointer(dx.data, first), true);
                      });
}

Tensor join_heads(const Tensor& x) {
  if (x.rank() != 4) fail_shapes<Shape>("join_heads", "x must be [B, H, T, D]", {x.shape()});
  const index_t columns = x.size(1) * x.size(3);
  const kernels::StridedLoop loop = head_loop(x.size(0), x.size(1), x.size(2), x.size(3), columns);
  Array y(shape_of({x.size(0), x.size(2), columns}));
  kernels::copy_to_strided(loop, x.data(), y.data(), false);
  return Tape::record("join_heads", {x}, Tensor(std::move(y)), [loop](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);
    kernels::copy_from_strided(loop, dy.data(), dx.data, dx.add);
  });
}

namespace {

/// cos and sin of every angle, [B or 1, T, D/2] each.
struct Turns {
  Array cosines, sines;
};

Turns turns_of(const Tensor& x, const RotaryOptions& o) {
  const index_t rows = o.offsets.dimension() ? x.size(0) : 1, time = x.size(2), pairs = x.size(3) / 2;
  Turns out{Array(shape_of({rows, time, pairs})), Array(shape_of({rows, time, pairs}))};
  for (index_t i = 0; i < pairs; ++i) {
    const double speed = std::pow(o.base, -2 * static_cast<double>(i) / static_cast<double>(2 * pairs));
    for (index_t b = 0; b < rows; ++b) {
      const index_t first = o.offsets.dimension() ? o.offsets.data()[b] : o.first;
      for (index_t t = 0; t < time; ++t) {
        const double angle = static_cast<double>(first + t) * speed;
        out.cosines.data()[(b * time + t) * pairs + i] = static_cast<real>(std::cos(angle));
        out.sines.data()[(b * time + t) * pairs + i] = static_cast<real>(std::sin(angle));
      }
    }
  }
  return out;
}

/// y = x turned, or turned back (`sign` -1), each head by the same angles; y is written or added to.
void rotate(const Turns& turns, const Shape& shape, const real* x, real* y, real sign, bool accumulate) {
  const auto heads = static_cast<index_t>(shape[1]);
  const auto count = static_cast<index_t>(shape[2] * shape[3]);
  parallel_for(static_cast<index_t>(shape[0]) * heads, [&](index_t task) {
    const index_t angles = turns.cosines.shape()[0] == 1 ? 0 : task / heads * (count / 2);
    const real *c = turns.cosines.data() + angles, *s = turns.sines.data() + angles;
    const real* from = x + task * count;
    real* to = y + task * count;
    for (index_t i = 0; i < count / 2; ++i) {
      const real a = from[2 * i], b = from[2 * i + 1];
      to[2 * i] = (accumulate ? to[2 * i] : 0) + c[i] * a - sign * s[i] * b;
      to[2 * i + 1] = (accumulate ? to[2 * i + 1] : 0) + sign * s[i] * a + c[i] * b;
    }
  });
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  if (x.rank() != 4 || x.size(3) % 2 != 0)
    fail_shapes<Shape>("rotary", "x must be [B, H, T, D] with an even D", {x.shape()});
  if (options.offsets.dimension() && static_cast<index_t>(options.offsets.size()) != x.size(0))
    fail_shapes<Shape>("rotary", "offsets must be [B]", {x.shape(), options.offsets.shape()});
  if (!(options.base > 0) || std::isinf(options.base))
    throw ValueError("rotary", "the base must be positive, not " + std::to_string(options.base));
  Turns turns = turns_of(x, options);
  Array y(x.shape());
  rotate(turns, x.shape(), x.data(), y.data(), 1, false);
  return Tape::record("rotary", {x}, Tensor(std::move(y)), [turns = std::move(turns)](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);
    rotate(turns, dy.shape(), dy.data(), dx.data, -1, dx.add);
  });
}

GradCases heads_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array columns = sample({2, 3, 10}, 121), heads = sample({2, 3, 4, 6}, 122);
  return {
      {"split_heads", "inner columns", {columns}, [](Args a) { return split_heads(a[0], 2, 3, 2); }},
      {"join_heads", "", {heads}, [](Args a) { return join_heads(a[0]); }},
      {"rotary", "", {heads}, [](Args a) { return rotary(a[0], {.first = 3}); }},
      {"rotary",
       "a start for each sequence",
       {heads},
       [](Args a) {
         return rotary(a[0], {.offsets = IndexArray{0, 5}, .base = 100});
       }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE

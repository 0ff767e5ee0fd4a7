#include <xtape/core/error.hpp>
#include <xtape/core/kernels/linear_attention.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/ops/attention.hpp>
#include <xtape/core/ops/internal/attention_sizes.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/linear_attention.hpp>
#include <xtape/core/ops/mask.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::LinearAttentionProblem;

/// The problem without pointers. Throws ShapeError.
LinearAttentionProblem sizes_of(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& log_key_weight, const LinearAttentionOptions& o) {
  const AttentionSizes sizes = attention_sizes(op, q.shape(), k.shape(), v.shape());
  LinearAttentionProblem p = {};
  sizes.set(p, &LinearAttentionProblem::features);
  p.causal = o.causal;
  if (log_key_weight.defined())
    check_shape(op, "log_key_weight", log_key_weight.shape(), Shape{p.batches, p.key_heads, p.keys});
  check_masks(op, sizes, o.key_padding);
  return p;
}

/// The problem with pointers to its operands.
LinearAttentionProblem bound(LinearAttentionProblem p, const Tensor& q, const Tensor& k, const Tensor& v,
                             const Tensor& log_key_weight, const Mask& padding) {
  p.padding = data_or_null(padding);
  p.q = q.data();
  p.k = k.data();
  p.v = v.data();
  p.log_key_weight = log_key_weight.defined() ? log_key_weight.data() : nullptr;
  return p;
}

Tensor attend(const char* op, const LinearAttentionProblem& sizes, const Tensor& q, const Tensor& k, const Tensor& v,
              const Tensor& log_key_weight, const Mask& padding) {
  Array out = empty_array({sizes.batches, sizes.heads, sizes.queries, sizes.value_width});
  kernels::linear_attention(bound(sizes, q, k, v, log_key_weight, padding), nullptr, out.data());
  const Tensor y(std::move(out));
  const Operand operands[] = {q, k, v, log_key_weight};
  return Tape::record(
      op, std::span(operands, log_key_weight.defined() ? 4 : 3), y,
      [sizes, padding, q = q.detach(), k = k.detach(), v = v.detach(), y,
       key_weight = log_key_weight.defined() ? log_key_weight.detach() : Tensor()](const Array& dy, Grads& g) {
        kernels::LinearAttentionGradients to{g.buffer_if_needed(0), g.buffer_if_needed(1), g.buffer_if_needed(2), {}};
        if (key_weight.defined()) to.dlog_key_weight = g.buffer_if_needed(3);
        kernels::linear_attention_backward(bound(sizes, q, k, v, key_weight, padding), y.data(), dy.data(), to);
      });
}

}  // namespace

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight,
                        const LinearAttentionOptions& options) {
  constexpr const char* op = "linear_attention";
  return attend(op, sizes_of(op, q, k, v, log_key_weight, options), q, k, v, log_key_weight, options.key_padding);
}

Tensor separable_attention(const Tensor& a, const Tensor& k, const Tensor& v, const LinearAttentionOptions& options) {
  constexpr const char* op = "separable_attention";
  LinearAttentionProblem sizes = sizes_of(op, a, k, v, {}, options);
  sizes.separable = true;
  return attend(op, sizes, a, k, v, {}, options.key_padding);
}

LinearState linear_state(index_t batches, index_t key_heads, index_t features, index_t value_width) {
  const index_t size = kernels::linear_state_size(features, value_width);
  LinearState state = empty_array({batches, key_heads, size});
  for (index_t i = 0; i < batches * key_heads; ++i)
    kernels::clear_linear_state(state.data() + i * size, features, value_width);
  return state;
}

Tensor linear_attention_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight,
                             const Mask& key_padding, bool separable, LinearState& state) {
  constexpr const char* caller = "linear_attention_step";
  LinearAttentionProblem sizes =
      sizes_of(caller, q, k, v, log_key_weight, {.causal = true, .key_padding = key_padding});
  sizes.separable = separable;
  const index_t state_size = kernels::linear_state_size(sizes.features, sizes.value_width);
  if (sizes.queries != sizes.keys) throw ShapeError(caller, "as many queries as keys", q.shape(), k.shape());
  check_shape(caller, "a state", state.shape(), Shape{sizes.batches, sizes.key_heads, state_size});
  Array out = empty_array({sizes.batches, sizes.heads, sizes.queries, sizes.value_width});
  kernels::linear_attention(bound(sizes, q, k, v, log_key_weight, key_padding), state.data(), out.data());
  return out;
}

Tensor quadratic_features(const Tensor& x, const Tensor& unit) {
  if (x.rank() < 1) throw ShapeError("quadratic_features", "x [..., D]", x.shape());
  const index_t width = x.size(-1), features = (width + 1) * (width + 2) / 2;
  constexpr real root = static_cast<real>(1.4142135623730950488);
  Shape shape = x.shape();
  shape.back() = 1;
  if (unit.defined()) check_shape("quadratic_features", "a unit", unit.shape(), shape);
  shape.back() = features;
  Array y = empty_array(shape);
  const index_t rows = numel(y) / features;
  const auto unit_of = [unit = unit.defined() ? unit.detach() : unit](index_t r) {
    return unit.defined() ? unit.data()[r] : real(1);
  };
  parallel_ranges(rows, 64, [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) {
      const real* from = x.data() + r * width;
      real* to = y.data() + r * features;
      const real one = unit_of(r);
      *to++ = one * one;
      for (index_t i = 0; i < width; ++i) *to++ = root * one * from[i];
      for (index_t i = 0; i < width; ++i) {
        *to++ = from[i] * from[i];
        for (index_t j = i + 1; j < width; ++j) *to++ = root * from[i] * from[j];
      }
    }
  });
  return Tape::record("quadratic_features", {x}, Tensor(std::move(y)),
                      [x = x.detach(), unit_of, rows, width, features](const Array& dy, Grads& g) {
                        const Output dx = g.buffer(0);
                        parallel_ranges(rows, 64, [&](index_t begin, index_t end) {
                          for (index_t r = begin; r < end; ++r) {
                            const real *from = x.data() + r * width, *up = dy.data() + r * features + 1;
                            real* to = dx.data + r * width;
                            const real first = root * unit_of(r);
                            for (index_t i = 0; i < width; ++i) to[i] = (dx.add ? to[i] : 0) + first * *up++;
                            for (index_t i = 0; i < width; ++i) {
                              to[i] += 2 * from[i] * *up++;
                              for (index_t j = i + 1; j < width; ++j, ++up) {
                                to[i] += root * from[j] * *up;
                                to[j] += root * from[i] * *up;
                              }
                            }
                          }
                        });
                      });
}

}  // namespace xtape::inline XTAPE_DTYPE

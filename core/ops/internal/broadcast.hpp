// Shared by the op files: arrays from elementwise kernels. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/shape.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

inline index_t count_of(const Array& x) { return static_cast<index_t>(x.size()); }

/// How two operands meet under a shape that both broadcast to: in one run with steps 0 or 1, or along a walk.
struct BroadcastPlan {
  bool contiguous;
  index_t step_a, step_b;
  kernels::StridedLoop loop;
};
BroadcastPlan broadcast_plan(const char* op, const Shape& shape, const Shape& a, const Shape& b);

/// f(a, b) with broadcasting. Throws ShapeError.
Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b);

/// Adds f'(..) dy for a unary function whose derivative is read off x or y.
Tensor unary_op(const char* op, kernels::Unary f, const Tensor& x, bool derivative_reads_x,
                kernels::Constants constants = {});

/// The same for a function whose derivative is computed with its value and kept.
Tensor unary_op_saving_derivative(const char* op, kernels::Unary f, const Tensor& x);

/// Row-major strides of `shape`, 0 for extents of 1, aligned at the end with `rank` axes.
void broadcast_strides(const Shape& shape, std::size_t rank, index_t* strides);

}  // namespace xtape::inline XTAPE_DTYPE

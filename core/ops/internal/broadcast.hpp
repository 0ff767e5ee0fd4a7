// Broadcasting of two operands, for the op files. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/shape.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

inline index_t count_of(const Array& x) { return static_cast<index_t>(x.size()); }

/// How to loop over two operands that broadcast to one shape.
struct BroadcastPlan {
  bool contiguous;         ///< one loop over all elements, with steps 0 or 1; `loop` is not set
  index_t step_a, step_b;  ///< 0: an operand of one element
  kernels::StridedLoop loop;
};

/// `shape` must be the broadcast shape of `a` and `b`. Throws ShapeError for more than kMaxRank dimensions.
BroadcastPlan broadcast_plan(const char* op, const Shape& shape, const Shape& a, const Shape& b);

/// f(a, b) with broadcasting. Throws ShapeError if the shapes do not broadcast.
Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b);

/// A loop over all elements of `shape`, without strides. Throws ShapeError for more than kMaxRank dimensions.
kernels::StridedLoop loop_over(const char* op, const Shape& shape);

/// Row-major strides of `shape`, 0 for dimensions of size 1. `shape` is aligned with the last of `rank` axes; the axes
/// before it get 0.
void broadcast_strides(const Shape& shape, std::size_t rank, index_t* strides);

}  // namespace xtape::inline XTAPE_DTYPE

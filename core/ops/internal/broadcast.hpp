// Broadcasting of two operands, for the op files. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/shape.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// f(a, b) with broadcasting. Throws ShapeError if the shapes do not broadcast.
Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b);

/// Throws ShapeError for more than kMaxRank axes.
void check_rank(const char* op, const Shape& shape);

/// A loop over the elements of a shape, without strides. Throws as check_rank.
kernels::StridedLoop loop_over(const char* op, const Shape& shape);

/// The same, by the strides of one operand, or of two, that broadcast to `shape`.
kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a);
kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a, const Shape& b);

/// Row-major strides of `shape`, 0 for dimensions of size 1. `shape` is aligned with the last of `rank` axes; the axes
/// before it get 0.
void broadcast_strides(const Shape& shape, index_t rank, index_t* strides);

}  // namespace xtape::inline XTAPE_DTYPE

// Shared by the op files: arrays from elementwise kernels. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/permute.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

inline index_t count_of(const Array& x) { return static_cast<index_t>(x.size()); }

/// f(a, b) with broadcasting. Throws ShapeError.
Array broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b);

/// Adds f'(..) dy for a unary function whose derivative is read off x or y.
Tensor unary_op(const char* op, kernels::Unary f, const Tensor& x, bool slope_reads_x);

/// The same for a function whose derivative is computed with its value and kept.
Tensor unary_op_with_slope(const char* op, kernels::Unary f, const Tensor& x);

/// Row-major strides of `shape`, 0 for extents of 1, aligned at the end with `rank` axes.
void broadcast_strides(const Shape& shape, std::size_t rank, index_t* strides);

}  // namespace xtape::inline XTAPE_FLAVOUR

// Joining tensors and cutting them into parts. Negative axes count from the end.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Joins tensors along an existing axis. Throws ShapeError if the other sizes differ, ValueError for no tensors.
Tensor concat(const std::vector<Tensor>& parts, index_t axis);

/// Joins tensors of one shape along a new axis of the result. Throws ShapeError if the shapes differ, ValueError for no
/// tensors.
Tensor stack(const std::vector<Tensor>& parts, index_t axis = 0);

/// Cuts an axis into parts of `size`; the last may be smaller, and there is always at least one. Throws ShapeError, or
/// ValueError for a size below 1.
std::vector<Tensor> split(const Tensor& x, index_t size, index_t axis = 0);

/// Cuts an axis into parts of the given sizes. Throws ShapeError, or ValueError if they do not add up to the axis.
std::vector<Tensor> split_with_sizes(const Tensor& x, const Axes& sizes, index_t axis = 0);

}  // namespace xtape::inline XTAPE_DTYPE

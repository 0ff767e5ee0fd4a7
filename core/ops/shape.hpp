// Ops that move elements and compute nothing. Axes may be negative: they count from the end.
#pragma once

#include <xtape/core/tape.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE {

/// The same elements in row-major order under another shape; one size may be -1. Throws ShapeError.
Tensor reshape(const Tensor& x, const Axes& shape);

/// Axis i of the result is axis axes[i] of x. Throws ShapeError unless `axes` names each axis once.
Tensor permute(const Tensor& x, const Axes& axes);

/// Swaps two axes, the last two by default. Throws ShapeError.
Tensor transpose(const Tensor& x, index_t axis_a = -2, index_t axis_b = -1);

constexpr index_t kEnd = std::numeric_limits<index_t>::max();

/// Elements begin, begin + step, ... before end along an axis. Negative positions count from the end; kEnd is the end.
/// Throws IndexError for positions outside the axis (as torch.narrow does; nothing is clamped), ValueError for step
/// < 1.
Tensor slice(const Tensor& x, index_t axis, index_t begin, index_t end = kEnd, index_t step = 1);

/// Joins tensors along an existing axis. Throws ShapeError if the other extents differ, ValueError for no tensors.
Tensor concat(const std::vector<Tensor>& parts, index_t axis);

/// Puts tensors of one shape side by side along a new axis of the result. Throws ShapeError if the shapes differ,
/// ValueError for no tensors.
Tensor stack(const std::vector<Tensor>& parts, index_t axis = 0);

/// Pieces of `size` along an axis; the last may be shorter, and there is always one. Throws ShapeError, or ValueError
/// for a size below 1.
std::vector<Tensor> split(const Tensor& x, index_t size, index_t axis = 0);

/// Pieces of the given sizes. Throws ShapeError, or ValueError if they do not add up to the axis.
std::vector<Tensor> split_with_sizes(const Tensor& x, const Axes& sizes, index_t axis = 0);

/// Drops axes of extent 1, all of them if none is named. Throws ShapeError if a named one has another extent (PyTorch
/// keeps it).
Tensor squeeze(const Tensor& x, const Axes& axes = {});

/// A new axis of extent 1 at place `axis` of the result. Throws ShapeError.
Tensor unsqueeze(const Tensor& x, index_t axis);

/// Repeats axes of extent 1, and adds axes in front, up to the given shape. Throws ShapeError, or ValueError for a
/// negative extent.
Tensor broadcast_to(const Tensor& x, const Axes& shape);

/// The elements in reverse order along axes; none named means all. Throws ShapeError.
Tensor flip(const Tensor& x, const Axes& axes = {});

}  // namespace xtape::inline XTAPE_DTYPE

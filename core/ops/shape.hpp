// Ops that move elements. Negative axes count from the end. Letters: B batch, T positions, H heads, D width of a head.
#pragma once

#include <xtape/core/tape.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE {

/// Gives the elements, in row-major order, another shape. One size may be -1: it is inferred. Throws ShapeError.
Tensor reshape(const Tensor& x, const Shape& shape);

/// Axis i of the result is axis axes[i] of x. Throws ShapeError unless `axes` names each axis once.
Tensor permute(const Tensor& x, const Axes& axes);

/// Swaps two axes, the last two by default. Throws ShapeError.
Tensor transpose(const Tensor& x, index_t axis_a = -2, index_t axis_b = -1);

constexpr index_t kEnd = std::numeric_limits<index_t>::max();

/// Elements begin, begin + step, ... before end along an axis. Negative positions count from the end; kEnd is the end.
/// Throws IndexError for positions outside the axis (as torch.narrow does; nothing is clamped), ValueError for step
/// < 1.
Tensor slice(const Tensor& x, index_t axis, index_t begin, index_t end = kEnd, index_t step = 1);

/// Drops axes of size 1, all of them if none is named. Throws ShapeError if a named axis has another size (PyTorch
/// keeps it).
Tensor squeeze(const Tensor& x, const Axes& axes = {});

/// Inserts an axis of size 1 as axis `axis` of the result. Throws ShapeError.
Tensor unsqueeze(const Tensor& x, index_t axis);

/// Repeats axes of size 1 and adds leading axes, up to the given shape. Throws ShapeError, or ValueError for a negative
/// size.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// Reverses the order of the elements along axes; no axes means all. Throws ShapeError.
Tensor flip(const Tensor& x, const Axes& axes = {});

/// Columns first_column .. first_column + heads * width - 1 of x [B, T, columns], which hold the heads one after the
/// other -> [B, heads, T, width]. Throws ShapeError.
Tensor split_heads(const Tensor& x, index_t first_column, index_t heads, index_t width);

/// x [B, H, T, D] -> [B, T, H D]. Throws ShapeError.
Tensor join_heads(const Tensor& x);

}  // namespace xtape::inline XTAPE_DTYPE

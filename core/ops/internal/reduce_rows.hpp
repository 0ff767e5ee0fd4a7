// Shared by the reductions: the reduced axes brought to the end. Not part of the public interface.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A reduction seen as rows of a [rows, width] matrix, one result for each row.
struct ReductionRows {
  Tensor x;  ///< kept axes, then reduced axes: the operand itself if they lie so, else a recorded permutation of it
  index_t rows, width;
  Shape shape;  ///< of the result
};

/// No axes means all. Throws ShapeError.
ReductionRows reduced_axes_last(const char* op, const Tensor& x, const Axes& axes, bool keep_dims);

using Doubles = std::vector<double, PoolAllocator<double>>;

}  // namespace xtape::inline XTAPE_DTYPE

// Reduced axes moved to the end, for the op files. Not part of the public interface.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A reduction as a [rows, width] matrix with one result for each row.
struct ReductionRows {
  Tensor x;  ///< kept axes, then reduced axes: the operand itself if it has this order, else a recorded permutation
  index_t rows, width;
  Shape shape;  ///< of the result
};

/// No axes means all. Throws ShapeError for an axis that does not exist or is named twice.
ReductionRows reduced_axes_last(const char* op, const Tensor& x, const Axes& axes, bool keep_dims);

using Doubles = std::vector<double, PoolAllocator<double>>;

}  // namespace xtape::inline XTAPE_DTYPE

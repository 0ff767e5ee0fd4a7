// Reordering and broadcasting of axes, by strides.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/kernels/elementwise.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

constexpr int kMaxRank = 12;

/// A walk over `rank` axes of extents `extent`, outermost first.
struct Walk {
  int rank = 0;
  index_t extent[kMaxRank] = {};
  index_t stride[kMaxRank] = {};    ///< elements between neighbours in the first operand; 0 where it is broadcast
  index_t stride_b[kMaxRank] = {};  ///< the same in the second operand, where there is one
};

/// y[walk order] = x[strided], y contiguous; added to y when `accumulate`.
void gather_strided(const Walk& walk, const real* x, real* y, bool accumulate);

/// y[strided] = x[walk order], x contiguous; added to y when `accumulate`. The places in y must be distinct.
void scatter_strided(const Walk& walk, const real* x, real* y, bool accumulate);

/// y[walk order] = f(a[strided], b[strided_b]).
void binary_strided(Binary f, const Walk& walk, const real* a, const real* b, real* y);

/// Joins axes that can be walked as one, so that loops over the last axis get long.
Walk joined(const Walk& walk);

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

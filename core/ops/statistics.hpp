// Variance, deviation and norm over axes. No axes means all; negative ones count from the end; of a scalar -1 and 0
// may be named. Reduced axes are dropped or kept with extent 1. Sums are accumulated in double.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// sum((x - mean)^2) / (n - correction) over the n elements of each group: unbiased with correction 1, biased with 0.
/// The mean is subtracted before squaring, so a large mean costs no digits. Throws ShapeError, or ValueError unless
/// 0 <= correction < n (PyTorch: NaN).
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 1);

/// Square root of the variance (torch.std; that name would collide with the namespace). Gradient 0 where it is 0.
Tensor stddev(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 1);

/// 2-norm sqrt(sum(x^2)); gradient 0 where it is 0. Of nothing: 0. The 1-norm is sum(abs(x)), the maximum norm
/// max(abs(x)). Throws ShapeError.
Tensor norm(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

}  // namespace xtape::inline XTAPE_DTYPE

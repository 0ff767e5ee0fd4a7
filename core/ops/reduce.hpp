// Reductions over axes. No axes means all; a negative axis counts from the end; a scalar counts as one axis of size 1,
// so that 0 and -1 name it. Reduced axes are dropped, or kept with size 1 if `keep_dims`. Sums are accumulated in
// double. All throw ShapeError for an axis that does not exist or is named twice.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Sum over axes; 0 over no elements.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Mean over axes. Throws ShapeError for no elements.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Running sum along an axis, y[j] = x[0] + ... + x[j]; the shape of x.
Tensor cumsum(const Tensor& x, index_t axis);

/// Largest or smallest element over axes, NaN if one is NaN. Elements that tie share the gradient evenly (as in
/// torch.amax). Throws ShapeError for no elements. For the larger of two tensors see `maximum`.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Position of the first largest or smallest element along an axis, or of the first NaN if there is one. No gradient.
/// Throws ShapeError for no elements.
IndexArray argmax(const Tensor& x, index_t axis, bool keep_dims = false);
IndexArray argmin(const Tensor& x, index_t axis, bool keep_dims = false);

/// Variance sum((x - mean)^2) / (n - correction) over the n elements of each group: unbiased with correction 1, biased
/// with 0. The mean is subtracted before squaring, so a large mean costs no digits. Throws ValueError unless
/// 0 <= correction < n (PyTorch gives NaN).
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 1);

/// Standard deviation, the square root of `var` (torch.std; that name would collide with the namespace). The derivative
/// where it is 0 is 0.
Tensor stddev(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 1);

/// 2-norm sqrt(sum(x^2)); 0 over no elements. The derivative where it is 0 is 0. For the 1-norm use sum(abs(x)), for
/// the maximum norm max(abs(x)).
Tensor norm(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

}  // namespace xtape::inline XTAPE_DTYPE

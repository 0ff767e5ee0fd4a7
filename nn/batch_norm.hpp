// Batch normalization (Ioffe and Szegedy 2015).
#pragma once

#include <xtape/core/ops/batch_norm.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct BatchNormOptions {
  double eps = 1e-5;        ///< added to the variance
  double momentum = 0.1;    ///< weight of the new batch in the running statistics, 0 to 1
  bool cumulative = false;  ///< the running statistics are the average of all batches (PyTorch: momentum=None)
  bool affine = true;       ///< learn weight (starts at 1) and bias (starts at 0)
};

/// Normalizes each channel to mean 0 and variance 1, then multiplies by weight and adds bias: x [B, C] or [B, T, C] ->
/// the shape of x. In training mode it uses the mean and the biased variance of the batch over B and T, and updates the
/// running statistics with the mean and the unbiased variance: new = (1 - momentum) old + momentum batch. In evaluation
/// mode it uses the running statistics. A batch whose statistics are NaN or infinite does not change the running ones
/// (in PyTorch they stay NaN for ever).
///
/// Parameters, named as in PyTorch's BatchNorm1d (which takes 3-D input as [B, C, T]): weight [C], bias [C]. Buffers:
/// running_mean [C] (starts at 0), running_var [C] (starts at 1), num_batches_tracked [] (an integer).
class BatchNorm {
 public:
  /// Throws ValueError if the width is less than 1, eps is negative, or the momentum is outside 0..1.
  BatchNorm(const Scope& scope, index_t width, const BatchNormOptions& options = {});
  BatchNorm(BatchNorm&&) = default;
  BatchNorm(const BatchNorm&) = delete;

  /// Throws ShapeError if x is not [B, C] or [B, T, C]. In training mode throws ValueError if a channel has fewer than
  /// two values, because its variance is undefined. An exception leaves the running statistics unchanged.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;  ///< undefined unless affine
  Parameter bias;
  Buffer running_mean;
  Buffer running_var;
  IntegerBuffer num_batches_tracked;

 private:
  void track(const BatchNormOutput& batch) const;

  Scope scope_;
  std::string layer_;
  index_t width_;
  BatchNormOptions options_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// Batch normalisation (Ioffe and Szegedy 2015).
#pragma once

#include <xtape/core/ops/batch_norm.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;    ///< weight of the new batch in the running statistics, from 0 to 1
  bool cumulative = false;  ///< running statistics are the plain average over all batches (PyTorch: momentum=None)
  bool affine = true;       ///< gain (starts at 1) and bias (starts at 0)
};

/// Each channel to mean 0 and variance 1, then gain and bias: [B, C] or [B, T, C] -> the same shape. In training the
/// statistics are the batch's (over B and T, biased variance), and running statistics follow them (unbiased variance):
/// new = (1 - momentum) old + momentum batch. In evaluation the running statistics are used. A batch whose statistics
/// are not finite leaves the running ones as they are (PyTorch: NaN for ever).
///
/// Parameters, as in PyTorch's BatchNorm1d (whose 3-D input is [B, C, T]): weight [C], bias [C]. Buffers: running_mean
/// [C] (starts at 0), running_var [C] (starts at 1), num_batches_tracked [].
class BatchNorm {
 public:
  /// Throws ValueError if the width is less than 1, eps negative, or the momentum outside 0..1.
  BatchNorm(const Scope& scope, index_t width, const BatchNormOptions& options = {});
  BatchNorm(BatchNorm&&) = default;
  BatchNorm(const BatchNorm&) = delete;

  /// Throws ShapeError if x does not fit; in training ValueError if a channel has fewer than two values, whose variance
  /// is not defined. Then the running statistics are as before.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;
  Parameter bias;
  Buffer running_mean;
  Buffer running_var;
  Buffer num_batches_tracked;

 private:
  void track(const BatchNormOutput& batch) const;

  Scope scope_;
  std::string layer_;
  index_t width_;
  BatchNormOptions options_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// Root-mean-square normalisation (Zhang and Sennrich 2019).
#pragma once

#include <xtape/core/ops/layer_norm.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct RMSNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< gain (starts at 1)
};

/// Each row x / sqrt(mean(x^2) + eps), then the gain: [..., width] -> [..., width]. Parameter: weight [width].
class RMSNorm {
 public:
  /// Throws ValueError if the width is less than 1 or eps negative.
  RMSNorm(const Scope& scope, index_t width, const RMSNormOptions& options = {});
  RMSNorm(RMSNorm&&) = default;
  RMSNorm(const RMSNorm&) = delete;

  /// Throws ShapeError if the last axis of x is not `width`.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;

 private:
  std::string layer_;
  index_t width_;
  double eps_;
};

}  // namespace xtape::inline XTAPE_DTYPE

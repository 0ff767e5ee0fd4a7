// Root-mean-square normalization (Zhang and Sennrich 2019).
#pragma once

#include <xtape/core/ops/layer_norm.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct RMSNormOptions {
  double eps = 1e-5;   ///< added to the mean square
  bool affine = true;  ///< learn weight (starts at 1)
};

/// Divides each row by sqrt(mean(x^2) + eps), then multiplies by weight: x [..., width] -> the shape of x. Parameter:
/// weight [width].
class RMSNorm {
 public:
  /// Throws ValueError if the width is less than 1 or eps is negative.
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

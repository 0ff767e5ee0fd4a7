// Layer normalization (Ba, Kiros, Hinton 2016).
#pragma once

#include <xtape/core/ops/layer_norm.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct LayerNormOptions {
  double eps = 1e-5;   ///< added to the variance
  bool affine = true;  ///< learn weight (starts at 1) and bias (starts at 0)
  bool bias = true;    ///< false: weight only; ignored unless affine
};

/// Normalizes each row to mean 0 and (biased) variance 1, then multiplies by weight and adds bias: x [..., width] ->
/// the shape of x. Parameters, named as in PyTorch: weight [width], bias [width].
class LayerNorm {
 public:
  /// Throws ValueError if the width is less than 1 or eps negative.
  LayerNorm(const Scope& scope, index_t width, const LayerNormOptions& options = {});
  LayerNorm(LayerNorm&&) = default;
  LayerNorm(const LayerNorm&) = delete;

  /// Throws ShapeError if the last axis of x is not `width`.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;
  Parameter bias;

 private:
  std::string layer_;
  index_t width_;
  double eps_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// Fully connected layer.
#pragma once

#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct LinearOptions {
  bool bias = true;
  Init weight_init = {};  ///< default: uniform in [-a, a) with a = 1/sqrt(in), as in PyTorch
  Init bias_init = {};    ///< default: as weight_init
};

/// y = x W^T + b: x [..., in] -> [..., out]. Parameters: weight [out, in], bias [out].
class Linear {
 public:
  /// Throws ValueError if a size is less than 1.
  Linear(const Scope& scope, index_t in, index_t out, const LinearOptions& options = {});
  Linear(Linear&&) = default;
  Linear(const Linear&) = delete;  // a copy would silently share weights

  /// Throws ShapeError if the last axis of x is not `in`.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;
  Parameter bias;  ///< undefined without bias

 private:
  std::string layer_;
};

}  // namespace xtape::inline XTAPE_DTYPE

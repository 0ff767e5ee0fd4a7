// Fully connected layer.
#pragma once

#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct LinearOptions {
  bool bias = true;
  Init weight_init = {};  ///< default: uniform within 1/sqrt(in), as PyTorch
  Init bias_init = {};    ///< default: the same bound
};

/// y = x W^T + b: [..., in] -> [..., out]. Parameters: weight [out, in], bias [out].
class Linear {
 public:
  /// Throws ValueError if a size is less than 1.
  Linear(const Scope& scope, index_t in, index_t out, const LinearOptions& options = {});
  Linear(Linear&&) = default;
  Linear(const Linear&) = delete;  // a copy would silently share weights

  /// Throws ShapeError if the last axis of x is not `in`.
  Tensor operator()(const Tensor& x) const;

  Parameter weight;
  Parameter bias;  ///< empty without bias

 private:
  std::string layer_;
};

}  // namespace xtape::inline XTAPE_DTYPE

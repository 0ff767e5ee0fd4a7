// Dropout layer: active in training mode only.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// In training mode, sets each element to zero with probability p and multiplies the others by 1/(1-p); else returns x.
/// x [...] -> the shape of x. Each call in training mode draws the next mask from the scope's random stream, so a run
/// from the same seed draws the same masks.
class Dropout {
 public:
  /// Throws ValueError unless 0 <= p <= 1.
  Dropout(const Scope& scope, double p);
  Dropout(Dropout&&) = default;
  Dropout(const Dropout&) = delete;

  Tensor operator()(const Tensor& x) const;

 private:
  Scope scope_;
  double p_;
  mutable RandomKeyStream masks_;
};

}  // namespace xtape::inline XTAPE_DTYPE

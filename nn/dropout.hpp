// Dropout layer: active in training mode only.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// In training, zeroes elements with probability p and scales the others by 1/(1-p); else the identity. Each call in
/// training takes the next mask of the scope's stream.
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

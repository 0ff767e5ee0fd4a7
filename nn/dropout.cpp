#include <xtape/core/ops/dropout.hpp>
#include <xtape/nn/dropout.hpp>

namespace xtape::inline XTAPE_DTYPE {

Dropout::Dropout(const Scope& scope, double p) : scope_(scope), p_(p), masks_(scope.random_keys()) {
  check_probability("dropout", p);
}

Tensor Dropout::operator()(const Tensor& x) const {
  if (p_ == 0) return x;
  if (scope_.training()) return dropout(x, p_, masks_.next());
  if (Probe* probe = Probe::active()) probe->evaluation(scope_.name());
  return x;
}

}  // namespace xtape::inline XTAPE_DTYPE

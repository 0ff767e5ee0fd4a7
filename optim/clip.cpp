#include <xtape/core/error.hpp>
#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/optim/clip.hpp>

#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR {

double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm) {
  if (!(max_norm >= 0))
    throw ValueError("clip_grad_norm", "the limit must not be negative, but is " + std::to_string(max_norm));
  double squares = 0;
  std::vector<Parameter> with_grad;
  for (Parameter parameter : parameters) {
    if (!parameter.has_grad()) continue;
    const double norm = parameter.grad_norm();
    parameter.note_grad_norm(norm);
    squares += norm * norm;
    with_grad.push_back(parameter);
  }
  const double norm = std::sqrt(squares);
  if (!(norm > max_norm) || std::isinf(norm)) return norm;
  const real scale = static_cast<real>(max_norm / norm);
  for (Parameter& parameter : with_grad) {
    real* grad = parameter.edit_grad();
    kernels::scaled(grad, scale, grad, false, parameter.size());
  }
  return norm;
}

double clip_grad_norm(const ParamStore& store, double max_norm) { return clip_grad_norm(store.parameters(), max_norm); }

}  // namespace xtape::inline XTAPE_FLAVOUR

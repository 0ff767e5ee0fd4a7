#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/core/probe.hpp>
#include <xtape/optim/clip.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE {

namespace {

struct Norms {
  std::vector<std::pair<Parameter, double>> each;  // of the parameters that have a gradient
  double joint = 0;
};

Norms norms_of(const char* call, const std::vector<Parameter>& parameters, double limit) {
  if (!(limit >= 0)) throw ValueError(call, "the limit must not be negative, but is " + number_text(limit));
  if (Probe* probe = Probe::attached()) probe->on_gradients(parameters);
  Norms out;
  for (const Parameter& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    const double norm = parameter.grad_norm();
    out.each.emplace_back(parameter, norm);
    const bool undefined = std::isnan(norm) || std::isnan(out.joint);  // hypot of NaN and infinity is infinite
    out.joint = undefined ? std::numeric_limits<double>::quiet_NaN() : std::hypot(out.joint, norm);
  }
  return out;
}

/// Caches every norm in its parameter and returns the joint norm. If `wanted`, calls `change(parameter, norm)` for
/// every parameter, which clips its gradient and returns the norm after clipping divided by the norm before.
template <class Change>
double change_and_note(Norms& norms, bool wanted, const Change& change) {
  for (auto& [parameter, norm] : norms.each) {
    const double factor = wanted ? change(parameter, norm) : 1;
    parameter.cache_grad_norm(norm, factor);
  }
  return norms.joint;
}

}  // namespace

double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm) {
  Norms norms = norms_of("clip_grad_norm", parameters, max_norm);
  const double joint = norms.joint;
  const bool exceeds = joint > max_norm && !std::isinf(joint);
  return change_and_note(norms, exceeds, [scale = max_norm / joint](Parameter& parameter, double) {
    real* grad = parameter.edit_grad();
    kernels::scaled(grad, static_cast<real>(scale), grad, false, parameter.numel());
    return scale;
  });
}

double clip_grad_value(const std::vector<Parameter>& parameters, double max_value) {
  Norms norms = norms_of("clip_grad_value", parameters, max_value);
  const bool finite = std::isfinite(norms.joint);
  const real high = static_cast<real>(max_value);
  return change_and_note(norms, finite, [high](Parameter& parameter, double norm) {
    real* grad = parameter.edit_grad();
    for (index_t i = 0; i < parameter.numel(); ++i) grad[i] = std::clamp(grad[i], -high, high);
    return norm > 0 ? kernels::norm(grad, parameter.numel()) / norm : 1;
  });
}

double clip_grad_norm(const ParamStore& store, double max_norm) { return clip_grad_norm(store.parameters(), max_norm); }

double clip_grad_value(const ParamStore& store, double max_value) {
  return clip_grad_value(store.parameters(), max_value);
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/wide_range.hpp>
#include <xtape/core/probe.hpp>
#include <xtape/optim/clip.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::Wide;

struct Norms {
  std::vector<std::pair<Parameter, double>> each;  // of the parameters that have a gradient
  double joint = 0;
  Wide exact = 0;  // the joint norm, also if it is larger than any double
};

Norms norms_of(const char* call, const std::vector<Parameter>& given, double limit) {
  if (!(limit >= 0)) throw ValueError(call, "a limit of at least 0", limit);
  const std::vector<Parameter> parameters = distinct(given);
  if (Probe* probe = Probe::attached()) probe->on_gradients(parameters);
  Norms out;
  for (const Parameter& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    const double norm = parameter.grad_norm();
    out.each.emplace_back(parameter, norm);
    out.joint = kernels::joint_norm(out.joint, norm);
  }
  out.exact = static_cast<Wide>(out.joint);
  if (!std::isinf(out.joint)) return out;
  Wide squares = 0;
  for (const auto& [parameter, norm] : out.each)
    squares += kernels::wide_sum_of_squares({parameter.grad().data(), parameter.numel()});
  out.exact = std::sqrt(squares);
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

/// Multiplies n elements by limit / norm, which is below 1 and may be too small for a number of `real`.
void scale(real* x, index_t n, double limit, Wide norm) {
  const auto factor = static_cast<double>(static_cast<Wide>(limit) / norm);
  if (factor == 0 || factor > (sizeof(real) == 4 ? 1e-30 : 1e-290))
    return kernels::scaled(x, static_cast<real>(factor), {x}, n);
  for (index_t i = 0; i < n; ++i) x[i] = static_cast<real>(static_cast<Wide>(x[i]) / norm * static_cast<Wide>(limit));
}

}  // namespace

double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm) {
  Norms norms = norms_of("clip_grad_norm", parameters, max_norm);
  const bool exceeds = norms.exact > static_cast<Wide>(max_norm) && std::isfinite(norms.exact);
  return change_and_note(norms, exceeds, [max_norm, exact = norms.exact](Parameter& parameter, double) {
    scale(parameter.edit_grad(), parameter.numel(), max_norm, exact);
    return static_cast<double>(static_cast<Wide>(max_norm) / exact);
  });
}

double clip_grad_value(const std::vector<Parameter>& parameters, double max_value) {
  Norms norms = norms_of("clip_grad_value", parameters, max_value);
  const real high = static_cast<real>(max_value);
  return change_and_note(norms, std::isfinite(norms.exact), [high](Parameter& parameter, double norm) {
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

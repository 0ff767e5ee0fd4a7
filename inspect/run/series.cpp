#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace xtape {

namespace {

constexpr double kNothingLeft = 1e-12;  // relative to lag 0; smaller values are rounding errors

/// "layers" of "layers.3", or "".
std::string parent_of_block(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot + 1 == name.size()) return "";
  const bool number = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(),
                                  [](unsigned char c) { return std::isdigit(c); });
  return number ? name.substr(0, dot) : "";
}

/// Slope of the least-squares line through (0, y0), (1, y1), ...
double linear_coefficient(const std::vector<double>& y) {
  const auto n = static_cast<double>(y.size());
  const double middle = (n - 1) / 2;
  double xy = 0, xx = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    xy += x * y[i];
    xx += x * x;
  }
  return xy / xx;
}

}  // namespace

std::span<const double> first_tenth(std::span<const double> values) {
  return values.first(std::max<std::size_t>(1, values.size() / 10));
}

std::span<const double> last_tenth(std::span<const double> values) {
  return values.last(std::max<std::size_t>(1, values.size() / 10));
}

std::vector<double> series(const RunData& run, const std::function<double(const StepRecord&)>& number) {
  std::vector<double> out;
  for (const StepRecord& step : run.steps) out.push_back(number(step));
  return out;
}

std::string layer_of(const std::string& parameter) {
  const std::size_t dot = parameter.rfind('.');
  return dot == parameter.npos ? parameter : parameter.substr(0, dot);
}

bool is_gate(const std::string& name) {
  const std::string part = name.substr(name.rfind('.') + 1);
  for (const char* gate : {"input", "forget", "cell", "output", "reset", "update", "candidate"})
    if (part == gate) return true;
  return false;
}

std::vector<std::string> layers_by_depth(const RunData& run) {
  std::vector<std::string> all;
  std::map<std::string, std::vector<std::string>> blocks;
  for (const std::string& name : names_in(run, &StepRecord::layers)) {
    const bool has_grad = std::any_of(run.steps.begin(), run.steps.end(), [&](const StepRecord& step) {
      const LayerStats* layer = named(step.layers, name);
      return layer && layer->output_grad_norm;
    });
    if (!has_grad) continue;
    all.push_back(name);
    if (const std::string parent = parent_of_block(name); !parent.empty()) blocks[parent].push_back(name);
  }
  std::vector<std::string> most;
  for (const auto& [parent, names] : blocks)
    if (names.size() > most.size()) most = names;
  if (most.size() > 1) return most;
  if (all.size() > 2) all.pop_back();
  return all;
}

namespace {

Depth between(const std::vector<std::string>& layers, const StepRecord& step) {
  const LayerStats *first = named(step.layers, layers.front()), *last = named(step.layers, layers.back());
  Depth out{layers.front(), layers.back(), {}};
  if (first && last && first->output_grad_norm && last->output_grad_norm && *last->output_grad_norm > 0)
    out.share = *first->output_grad_norm / *last->output_grad_norm;
  return out;
}

}  // namespace

Depth depth_at(const RunData& run, const StepRecord& step) {
  const std::vector<std::string> layers = layers_by_depth(run);
  return layers.size() < 2 ? Depth{} : between(layers, step);
}

Depth depth_of(const RunData& run) {
  const std::vector<std::string> layers = layers_by_depth(run);
  if (layers.size() < 2) return {};
  std::vector<double> shares;
  for (const StepRecord& step : run.steps)
    if (const Depth depth = between(layers, step); depth.share) shares.push_back(*depth.share);
  return {layers.front(), layers.back(), finite_median(shares)};
}

std::optional<LagCurve> lag_curve(const RunData& run, const std::string& layer) {
  std::vector<std::vector<double>> by_lag;
  for (const StepRecord& step : run.steps) {
    const TimeStats* times = named(step.times, layer);
    const std::vector<double> norms = times ? times->lag_norms() : std::vector<double>();
    if (norms.empty() || !(norms[0] > 0) || std::isinf(norms[0])) continue;
    by_lag.resize(std::max(by_lag.size(), norms.size()));
    for (std::size_t lag = 0; lag < norms.size(); ++lag) by_lag[lag].push_back(norms[lag] / norms[0]);
  }
  LagCurve curve;
  std::vector<double> logs;
  for (const std::vector<double>& shares : by_lag) {
    const std::optional<double> middle = finite_median(shares);
    if (!middle) break;
    curve.share.push_back(*middle);
    if (*middle > kNothingLeft && logs.size() + 1 == curve.share.size()) logs.push_back(std::log(*middle));
  }
  if (curve.share.size() < 2) return std::nullopt;
  curve.rate = logs.size() < 2 ? 0 : std::exp(linear_coefficient(logs));
  return curve;
}

}  // namespace xtape

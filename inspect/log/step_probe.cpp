#include <xtape/core/kernels/array_statistics.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/inspect/log/step_probe.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr real kTail = 1 - real(0.95);  // so near to an end of its range a unit counts as saturated

void join(double& norm, double other) { norm = kernels::joint_norm(norm, other); }

void join(std::vector<double>& norms, const std::vector<double>& others) {
  if (norms.size() < others.size()) norms.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) join(norms[i], others[i]);
}

double share(index_t part, index_t all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

}  // namespace

void StepProbe::begin(bool measures) {
  measures_ = measures;
  ++generation_;
  layers_.clear();
  times_.clear();
  units_.clear();
  attention_.clear();
  parameters_.clear();
  classes_.reset();
  last_output_ = {};
  last_layer_.clear();
}

void StepProbe::when_grad(const Tensor& tensor, std::function<void(double)> then) {
  if (!Tape::tracks({tensor})) return;
  Tape::recorder()->on_grad(tensor, [this, generation = generation_, then = std::move(then)](const Array& grad) {
    if (generation == generation_) then(kernels::norm(grad.data(), numel(grad)));
  });
}

void StepProbe::on_layer_output(std::string_view name, const Tensor& y) {
  if (!measures_) return;
  Layer& layer = find_or_add(layers_, name);
  const auto index = static_cast<std::size_t>(&layer - layers_.data());
  layer.sum += kernels::sum(y.data(), y.numel());
  join(layer.norm, kernels::norm(y.data(), y.numel()));
  layer.count += static_cast<double>(y.numel());
  last_output_ = y.detach();
  last_layer_ = name;
  when_grad(y, [this, index](double norm) {
    join(layers_[index].grad_norm, norm);
    layers_[index].has_grad = true;
  });
}

/// The norm of this time step; a step that is new has the norm 0.
double& StepProbe::norm_at(std::string_view layer, std::string_view stream, index_t time) {
  std::vector<double>& norms = find_or_add(find_or_add(times_, layer).by_time, stream).norms;
  const auto at = static_cast<std::size_t>(time);
  if (norms.size() <= at) norms.resize(at + 1);
  return norms[at];
}

void StepProbe::recurrent_step(std::string_view layer, std::string_view stream, index_t time) {
  if (measures_) norm_at(layer, stream, time);
}

void StepProbe::step_grad(const StepGrad& step) {
  if (measures_) join(norm_at(step.layer, step.stream, step.time), kernels::norm(step.grad.data(), numel(step.grad)));
}

void StepProbe::lag_norms(const LagNorms& norms) {
  if (measures_) join(find_or_add(find_or_add(times_, norms.layer).by_lag, norms.stream).norms, norms.norms);
}

void StepProbe::add_tails(const std::string& name, const UnitValues& v) {
  const kernels::TailCounts tails =
      kernels::tail_counts(v.values, v.rows, v.columns, v.stride, v.low + kTail, v.high - kTail);
  Units& units = find_or_add(units_, name);
  units.below += tails.below;
  units.above += tails.above;
  units.count += v.rows * v.columns;
}

void StepProbe::on_units(const UnitValues& units) {
  if (measures_) add_tails(std::string(units.layer) + "." + std::string(units.name), units);
}

void StepProbe::activation(const char* op, const Tensor& x, const Tensor& y) {
  if (!measures_ || y.rank() == 0 || y.numel() == 0) return;
  const bool of_layer = last_output_.defined() && last_output_.data() == x.data();
  const std::string layer = of_layer ? last_layer_ : std::string(LayerScope::current());
  const index_t width = y.size(-1), rows = y.numel() / width;
  std::string name = (layer.empty() ? "" : layer + ".") + op;
  if (op != std::string_view("relu")) {
    const real low = op == std::string_view("sigmoid") ? 0 : -1;
    return add_tails(name, {layer, op, low, 1, y.data(), rows, width, width});
  }
  std::vector<std::uint8_t>* alive = &find_or_add(units_, name).alive;
  if (!alive->empty() && std::ssize(*alive) != width)  // another activation of the same name
    alive = &find_or_add(units_, name + "[" + std::to_string(width) + "]").alive;
  alive->resize(width);
  kernels::mark_positive_columns(y.data(), rows, width, alive->data());
}

void StepProbe::attention(const AttentionSummary& summary) {
  if (!measures_) return;
  const std::string_view layer = LayerScope::current();
  AttentionStats& numbers = find_or_add(attention_, layer.empty() ? "attention" : layer);
  numbers.entropy = summary.entropy;
  numbers.entropy_share = summary.entropy_share;
  numbers.largest_logit = summary.largest_logit;
}

void StepProbe::measure(const Parameter& parameter) {
  ParameterStats& numbers = parameters_[parameter.name()];
  kernels::Log2Histogram m;
  m.zeros = parameter.numel();
  if (parameter.has_grad()) m = kernels::log2_histogram(parameter.grad().data(), parameter.numel());
  numbers.grad_max = m.largest;
  numbers.grad_nonfinite = m.not_finite;
  numbers.grad_zero_share = share(m.zeros, parameter.numel());
  numbers.grad_histogram = {m.low, std::move(m.counts)};
}

void StepProbe::on_gradients(const std::vector<Parameter>& parameters) {
  if (!measures_) return;
  for (const Parameter& parameter : parameters)
    if (!parameters_.contains(parameter.name())) measure(parameter);
}

void StepProbe::fill(StepRecord& record, const std::vector<Parameter>& parameters) {
  std::vector<double> norms;
  for (const Parameter& p : parameters)
    norms.push_back(p.has_grad() ? p.grad_norm() : 0);  // throws after a failed backward pass
  record.parameters.clear();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (measures_ && !parameters_.contains(p.name())) measure(p);
    ParameterStats& numbers = record.parameters.emplace_back();
    if (measures_) numbers = parameters_.find(p.name())->second;
    numbers.name = p.name();
    numbers.grad_norm = norms[i];
  }
  record.classes = classes_;
  for (const Layer& layer : layers_) {
    const double mean = layer.count > 0 ? layer.sum / layer.count : 0;
    // sqrt(mean(y^2) - mean(y)^2) as a product of roots, which no square can overflow
    const double root = layer.count > 0 ? layer.norm / std::sqrt(layer.count) : 0, size = std::abs(mean);
    LayerStats& numbers = record.layers.emplace_back(LayerStats{layer.name, mean, 0, {}});
    numbers.stddev = root < size ? 0 : std::sqrt(root - size) * std::sqrt(root + size);  // keeps NaN
    if (layer.has_grad) numbers.output_grad_norm = layer.grad_norm;
  }
  record.times = times_;
  for (const Units& u : units_) {
    UnitStats& numbers = record.units.emplace_back(UnitStats{u.name, {}, {}, {}});
    if (u.alive.empty()) {
      numbers.low = share(u.below, u.count);
      numbers.high = share(u.above, u.count);
    } else {
      const auto dead = std::count(u.alive.begin(), u.alive.end(), 0);
      numbers.dead = share(dead, std::ssize(u.alive));
    }
  }
  record.attention = attention_;
}

}  // namespace xtape::inline XTAPE_DTYPE

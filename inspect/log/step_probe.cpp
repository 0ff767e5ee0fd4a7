#include <xtape/core/kernels/array_statistics.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/inspect/log/step_probe.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr real kSaturated = real(0.95);  // above; below it is 1 - 0.95 for a sigmoid and -0.95 for tanh

void join(double& norm, double other) { norm = kernels::joint_norm(norm, other); }

void join(std::vector<double>& norms, const std::vector<double>& others) {
  if (norms.size() < others.size()) norms.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) join(norms[i], others[i]);
}

double share(index_t part, index_t all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

index_t count_of(const Array& x) { return static_cast<index_t>(x.size()); }

}  // namespace

template <class Named>
std::size_t StepProbe::find(std::vector<Named>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Named& x) { return x.name == name; });
  const auto index = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.emplace_back().name = name;
  return index;
}

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
    if (generation == generation_) then(kernels::norm(grad.data(), count_of(grad)));
  });
}

void StepProbe::on_layer_output(std::string_view name, const Tensor& y) {
  if (!measures_) return;
  const std::size_t index = find(layers_, name);
  Layer& layer = layers_[index];
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

void StepProbe::cell_step(std::string_view name, index_t time) {
  if (!measures_) return;
  Times& times = times_[find(times_, name)];  // a time step without a gradient is listed too
  if (static_cast<index_t>(times.hidden.size()) <= time) times.hidden.resize(static_cast<std::size_t>(time) + 1);
}

void StepProbe::step_grad(const StepGrad& step) {
  if (!measures_) return;
  Times& times = times_[find(times_, step.name)];
  std::vector<double>& norms = step.kind == GradKind::cell ? times.cell : times.hidden;
  const auto time = static_cast<std::size_t>(step.time);
  if (norms.size() <= time) norms.resize(time + 1);
  join(norms[time], kernels::norm(step.grad.data(), count_of(step.grad)));
}

void StepProbe::lag_norms(const LagNorms& norms) {
  if (!measures_) return;
  Times& times = times_[find(times_, norms.layer)];
  join(times.lag_hidden, norms.hidden);
  join(times.lag_cell, norms.cell);
}

void StepProbe::add_tails(Units& units, const real* x, index_t rows, index_t width, index_t stride, bool sigmoid) {
  const kernels::TailCounts tails =
      kernels::tail_counts(x, rows, width, stride, sigmoid ? 1 - kSaturated : -kSaturated, kSaturated);
  units.below += tails.below;
  units.above += tails.above;
  units.count += rows * width;
}

void StepProbe::gate(const GateValues& v) {
  if (!measures_) return;
  Units& units = units_[find(units_, std::string(v.layer) + "." + v.gate)];
  add_tails(units, v.values, v.rows, v.width, v.stride, v.sigmoid);
}

void StepProbe::activation(const char* op, const Tensor& x, const Tensor& y) {
  if (!measures_ || y.rank() == 0 || y.numel() == 0) return;
  const bool of_layer = last_output_.defined() && last_output_.data() == x.data();
  const std::string layer = of_layer ? last_layer_ : std::string(LayerScope::current());
  const index_t width = y.size(-1), rows = y.numel() / width;
  std::string name = (layer.empty() ? "" : layer + ".") + op;
  std::size_t index = find(units_, name);
  if (op != std::string_view("relu")) {
    add_tails(units_[index], y.data(), rows, width, width, op == std::string_view("sigmoid"));
    return;
  }
  if (!units_[index].alive.empty() && units_[index].alive.size() != static_cast<std::size_t>(width))
    index = find(units_, name + "[" + std::to_string(width) + "]");  // another activation of the same name
  std::vector<std::uint8_t>& alive = units_[index].alive;
  alive.resize(static_cast<std::size_t>(width));
  kernels::mark_positive_columns(y.data(), rows, width, alive.data());
}

void StepProbe::attention(const AttentionSummary& summary) {
  if (!measures_) return;
  const std::string_view layer = LayerScope::current();
  AttentionStats& numbers = attention_[find(attention_, layer.empty() ? "attention" : layer)];
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
  for (const Times& t : times_) record.times.push_back({t.name, t.hidden, t.cell, t.lag_hidden, t.lag_cell});
  for (const Units& u : units_) {
    UnitStats& numbers = record.units.emplace_back(UnitStats{u.name, {}, {}, {}});
    if (u.alive.empty()) {
      numbers.low = share(u.below, u.count);
      numbers.high = share(u.above, u.count);
    } else {
      const auto dead = std::count(u.alive.begin(), u.alive.end(), 0);
      numbers.dead = share(dead, static_cast<index_t>(u.alive.size()));
    }
  }
  record.attention = attention_;
}

}  // namespace xtape::inline XTAPE_DTYPE

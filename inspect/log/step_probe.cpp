#include <xtape/core/kernels/array_statistics.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/inspect/log/step_probe.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr index_t kLately = 8;          // measured batches over which a relu unit is dead
constexpr real kTail = 1 - real(0.95);  // so near to an end of its range a unit counts as saturated

void join(double& norm, double other) { norm = kernels::joint_norm(norm, other); }

void join(std::vector<double>& norms, const std::vector<double>& others) {
  if (norms.size() < others.size()) norms.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) join(norms[i], others[i]);
}

double share(index_t part, index_t all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

struct Moments {
  double mean, stddev;
};

/// Of `count` numbers, from their sum and their 2-norm.
Moments moments_of(double sum, double norm, double count) {
  const double mean = count > 0 ? sum / count : 0;
  // sqrt(mean(y^2) - mean(y)^2) as a product of roots, which no square can overflow
  const double root = count > 0 ? norm / std::sqrt(count) : 0, size = std::abs(mean);
  return {mean, root < size ? 0 : std::sqrt(root - size) * std::sqrt(root + size)};  // keeps NaN
}

/// FNV-1a over the elements.
template <class T>
std::uint64_t hash_of(const T* x, index_t n) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (index_t i = 0; i < n; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, x + i, sizeof(T));
    hash = (hash ^ bits) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

void StepProbe::begin(bool measures) {
  measures_ = measures;
  ++generation_;
  layers_.clear();
  times_.clear();
  units_.clear();
  attention_.clear();
  parameters_.clear();
  targets_.reset();
  input_.reset();
  dropout_.reset();
  evaluation_ = false;
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
  const auto largest = static_cast<double>(kernels::largest_magnitude(y.data(), y.numel()));
  if (!(largest <= layer.largest)) layer.largest = largest;  // keeps NaN
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
  find_or_add(units_, name).rows += rows;
}

void StepProbe::on_layer_input(const Tensor& x) {
  if (!measures_ || input_ || Tape::tracks({x})) return;
  const index_t n = x.numel();
  const kernels::ValueRange range = kernels::value_range(x.data(), n);
  input_ = InputStats{.nonfinite = range.nan + range.infinite};
  input_hash_ = hash_of(x.data(), n);
  if (n == 0 || input_->nonfinite == n) return;
  input_->low = range.smallest;
  input_->high = range.largest;
  if (input_->nonfinite > 0) return;
  const Moments moments = moments_of(kernels::sum(x.data(), n), kernels::norm(x.data(), n), static_cast<double>(n));
  input_->mean = moments.mean;
  input_->stddev = moments.stddev;
}

void StepProbe::on_layer_input(const IndexArray& ids) {
  if (!measures_ || input_) return;
  input_ = InputStats{};
  input_hash_ = hash_of(ids.data(), numel(ids));
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

/// Adds the batch to the history of these units.
void StepProbe::add_relu(UnitStats& numbers, const Units& units) {
  const index_t count = std::ssize(units.alive);
  numbers.dead = share(std::count(units.alive.begin(), units.alive.end(), 0), count);
  std::vector<index_t>& idle = history_.idle[units.name];
  idle.resize(units.alive.size());
  for (std::size_t i = 0; i < idle.size(); ++i) idle[i] = units.alive[i] ? 0 : std::min(idle[i] + 1, kLately);
  index_t& batches = history_.batches[units.name];
  batches = std::min(batches + 1, kLately);
  numbers.dead_lately = share(std::count(idle.begin(), idle.end(), batches), count);
  numbers.batches = batches;
  numbers.rows = batches * units.rows;
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
  if (targets_) {
    record.classes = targets_->classes;
    record.targets = targets_->counted;
  }
  record.dropout = dropout_;
  record.evaluation = evaluation_;
  if (input_) {
    history_.repeats = history_.input == input_hash_ ? history_.repeats + 1 : 0;
    history_.input = input_hash_;
    input_->repeats = history_.repeats;
    record.input = input_;
  }
  for (const Layer& layer : layers_) {
    const Moments moments = moments_of(layer.sum, layer.norm, layer.count);
    LayerStats& numbers = record.layers.emplace_back(LayerStats{layer.name, moments.mean, moments.stddev, {}, {}});
    if (std::isfinite(layer.largest)) numbers.largest = layer.largest;
    if (layer.has_grad) numbers.output_grad_norm = layer.grad_norm;
  }
  record.times = times_;
  for (const Units& u : units_) {
    UnitStats& numbers = record.units.emplace_back();
    numbers.name = u.name;
    if (u.alive.empty()) {
      numbers.low = share(u.below, u.count);
      numbers.high = share(u.above, u.count);
    } else {
      add_relu(numbers, u);
    }
  }
  record.attention = attention_;
}

}  // namespace xtape::inline XTAPE_DTYPE

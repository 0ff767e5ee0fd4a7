// StepProbe: measures layers, time steps, units and attention heads in one training step, for the run log.
#pragma once

#include <xtape/core/parameter.hpp>
#include <xtape/core/probe.hpp>
#include <xtape/core/tape.hpp>
#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/run/records.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Layers are identified by name. If a layer runs several times in a step, on one tape or several, the numbers cover
/// all its runs.
class StepProbe : public Probe {
 public:
  /// `on_op`, if given, is called for every op of every tape while the probe is attached.
  explicit StepProbe(std::function<void(const OpEvent&)> on_op = {})
      : Probe(on_op != nullptr), on_op_(std::move(on_op)) {}

  /// What a resumed log needs of the measured steps before.
  const BatchHistory& history() const { return history_; }
  void restore(BatchHistory history) { history_ = std::move(history); }

  /// Starts a new step. If `measures` is false, nothing is measured in it.
  void begin(bool measures);
  bool measures() const { return measures_; }

  /// Writes the measurements into `record`. `parameters` gives the order and the names of record.parameters, of which
  /// the gradient's norm and magnitudes before clipping are filled in. Throws GradientError after a failed backward
  /// pass; `record` is then unchanged.
  void fill(StepRecord& record, const std::vector<Parameter>& parameters);

  void on_layer_output(std::string_view layer, const Tensor& y) override;
  void recurrent_step(std::string_view layer, std::string_view stream, index_t time) override;
  void step_grad(const StepGrad& step) override;
  void lag_norms(const LagNorms& norms) override;
  void on_units(const UnitValues& units) override;
  void activation(const char* op, const Tensor& x, const Tensor& y) override;
  void attention(const AttentionSummary& summary) override;
  void targets(const LossTargets& targets) override { targets_ = targets; }
  void on_layer_input(const Tensor& x) override;
  void on_layer_input(const IndexArray& ids) override;
  void dropout(double p) override { dropout_ = std::max(dropout_.value_or(0), p); }
  void evaluation(std::string_view) override { evaluation_ = true; }
  void on_gradients(const std::vector<Parameter>& parameters) override;
  void on_op(const OpEvent& event) override {
    if (on_op_) on_op_(event);
  }

 private:
  struct Layer {
    std::string name;
    double sum = 0, norm = 0, count = 0, largest = 0;
    double grad_norm = 0;
    bool has_grad = false;
  };
  struct Units {
    std::string name;
    index_t below = 0, above = 0, count = 0;
    std::vector<std::uint8_t> alive = {};  // relu: by unit
    index_t rows = 0;                      // relu
  };

  void measure(const Parameter& parameter);
  void add_relu(UnitStats& numbers, const Units& units);
  void when_grad(const Tensor& tensor, std::function<void(double norm)> then);
  void add_tails(const std::string& name, const UnitValues& values);
  double& norm_at(std::string_view layer, std::string_view stream, index_t time);

  std::function<void(const OpEvent&)> on_op_;
  bool measures_ = false;
  index_t generation_ = 0;  // of steps: gradients of an earlier step are ignored
  std::vector<Layer> layers_;
  std::vector<TimeStats> times_;
  std::vector<Units> units_;
  std::vector<AttentionStats> attention_;
  std::map<std::string, ParameterStats, std::less<>> parameters_;
  std::optional<LossTargets> targets_;
  std::optional<InputStats> input_;
  std::uint64_t input_hash_ = 0;
  std::optional<double> dropout_;
  bool evaluation_ = false;
  BatchHistory history_;
  Tensor last_output_;  // of the last layer: an activation of this tensor gets the layer's name
  std::string last_layer_;
};

}  // namespace xtape::inline XTAPE_DTYPE

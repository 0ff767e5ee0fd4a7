// Probe: an onlooker that sees what runs on a tape, forward and backward. LayerScope tells it in which layer.
//
// While a probe is attached, each new tape of the thread shows it what layers, ops and recurrent steps do. Otherwise a
// tape costs one branch more, and a layer, a recorded op and a backward pass one each.
#pragma once

#include <xtape/core/tensor.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

class Parameter;
struct StepGrad;

/// Values of one gate, or of the states, of a recurrent layer at all its steps.
struct GateValues {
  std::string_view layer;
  const char* gate;  ///< "input", "forget", "cell", "output"; "reset", "update", "candidate"; "hidden"
  bool sigmoid;      ///< from 0 to 1; else from -1 to 1
  const real* values;
  index_t rows, width, stride;  ///< [rows, width], rows `stride` apart
};

/// The gradient of the last step's output alone, carried back: 2-norms by lag, 0 at the last step.
struct LagNorms {
  std::string_view layer;
  std::vector<double> hidden;
  std::vector<double> cell;  ///< lstm only
};

/// Attention weights by head, over the queries looked at that see at least one key.
struct AttentionSummary {
  std::vector<double> entropy;        ///< mean over queries, in nats
  std::vector<double> entropy_share;  ///< mean of entropy / ln(visible keys), over queries that see several
  std::vector<double> largest_logit;  ///< before softmax, scaled
};

/// One op while it is checked: after its forward, or after its rule.
struct OpEvent {
  const char* op;
  std::string_view layer;  ///< of the innermost LayerScope; may be empty
  bool backward;
  std::span<const Tensor> inputs;  ///< of the forward; untracked ones and empty ones too
  std::span<const Tensor> made;    ///< forward: outputs; backward: gradients of the inputs, empty where there is none
  const Array* upstream;           ///< backward only, and only for ops of one output
};

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  /// `checks_ops`: see each op by `on_op`, at a price in time and memory.
  explicit Probe(bool checks_ops = false) : checks_ops_(checks_ops) {}
  virtual ~Probe() { detach(); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// From now on until detach(), or until another is attached, tapes made on this thread show this probe what runs on
  /// them; a tape that is made while such a tape records does not. The probe must be owned by a shared_ptr.
  void attach() { attached_ = this; }
  void detach() {
    if (attached_ == this) attached_ = nullptr;
  }
  bool checks_ops() const { return checks_ops_; }

  /// The attached probe, or null.
  static Probe* attached() { return counted(attached_); }
  /// The probe of the tape that records on this thread, or null.
  static Probe* active() { return counted(active_); }
  /// How often probes of this thread were shown something.
  static index_t calls() { return calls_; }

  virtual void on_tape() {}
  virtual void on_layer_output(std::string_view layer, const Tensor& y) = 0;
  /// A cell op runs: the time step that its state belongs to, for step_grad.
  virtual index_t cell_step(std::string_view layer) = 0;
  virtual void step_grad(const StepGrad& step) = 0;
  virtual void lag_norms(const LagNorms& norms) = 0;
  virtual void gate(const GateValues& values) = 0;
  /// tanh, sigmoid or relu.
  virtual void activation(const char* op, const Tensor& x, const Tensor& y) = 0;
  virtual void attention(const AttentionSummary& summary) = 0;
  /// A loss over so many classes.
  virtual void classes(index_t count) = 0;
  /// The gradients are complete and not yet clipped.
  virtual void on_gradients(const std::vector<Parameter>& parameters) = 0;
  virtual void on_op(const OpEvent&) {}

 private:
  friend class Tape;

  static Probe* counted(Probe* probe) {
    if (probe) [[unlikely]]
      ++calls_;
    return probe;
  }

  inline static constinit thread_local Probe* attached_ = nullptr;
  inline static constinit thread_local Probe* active_ = nullptr;
  inline static constinit thread_local index_t calls_ = 0;

  const bool checks_ops_;
};

/// While it lives, what runs on this thread belongs to a layer. The name must outlive it.
class LayerScope {
 public:
  explicit LayerScope(std::string_view name) : outer_(current_) { current_ = name; }
  ~LayerScope() { current_ = outer_; }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  /// y, shown to the probe as this layer's output.
  Tensor output(Tensor y) const {
    if (Probe* probe = Probe::active()) probe->on_layer_output(current_, y);
    return y;
  }

  static std::string_view current() { return current_; }

 private:
  inline static constinit thread_local std::string_view current_ = {};

  std::string_view outer_;
};

}  // namespace xtape::inline XTAPE_DTYPE

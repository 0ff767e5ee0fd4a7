// Probe: an observer of a tape's forward and backward pass. LayerScope tells it the layer.
//
// While a probe is attached, each new tape of the thread calls it for layers, ops and recurrent steps. Without a probe
// the cost is one branch for each tape, layer, recorded op and backward pass.
#pragma once

#include <xtape/core/tensor.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

class Parameter;
struct StepGrad;

/// Values of bounded units inside a layer, such as the gates of a recurrent layer at all steps.
struct UnitValues {
  std::string_view layer;
  std::string_view name;  ///< of these units within the layer
  real low, high;         ///< the ends of their range
  const real* values;
  index_t rows, columns, stride;  ///< [rows, columns], rows `stride` apart
};

/// 2-norms of the gradient of the last step's output alone by one state of a recurrent op, by lag; lag 0 is the last
/// step.
struct LagNorms {
  std::string_view layer;
  std::string_view stream;  ///< as in StepGrad
  std::vector<double> norms;
};

/// Statistics of attention weights by head, over a sample of the queries that attend to at least one key.
struct AttentionSummary {
  std::vector<double> entropy;        ///< mean over queries, in nats
  std::vector<double> entropy_share;  ///< mean of entropy / ln(visible keys), over queries with several visible keys
  std::vector<double> largest_logit;  ///< before softmax, scaled
};

/// The targets of a loss over classes.
struct LossTargets {
  index_t classes;  ///< number of classes
  index_t counted;  ///< targets that count
  index_t all;      ///< targets, those to ignore included
};

/// An op that is checked, after its forward computation or after its backward function.
struct OpEvent {
  const char* op;
  std::string_view layer;  ///< the innermost LayerScope; may be empty
  bool backward;
  std::span<const Tensor> inputs;  ///< of the op; constants and empty tensors, too
  std::span<const Tensor> made;    ///< forward: outputs; backward: gradients of the inputs, empty where there is none
  const Array* upstream;           ///< backward only, and only for ops of one output
};

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  /// `checks_ops`: call `on_op` for each op, which costs time and memory.
  explicit Probe(bool checks_ops = false) : checks_ops_(checks_ops) {}
  virtual ~Probe() { detach(); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Until detach(), or until another probe is attached, new tapes of this thread call this probe; a tape that is made
  /// while such a tape records does not. A shared_ptr must own the probe.
  void attach() { attached_ = this; }
  void detach() {
    if (attached_ == this) attached_ = nullptr;
  }
  bool checks_ops() const { return checks_ops_; }

  /// The attached probe, or null.
  static Probe* attached() { return counted(attached_); }
  /// The probe of the tape that records on this thread, or null.
  static Probe* active() { return counted(active_); }
  /// How often probes of this thread were called.
  static index_t calls() { return calls_; }

  virtual void on_layer_output(std::string_view layer, const Tensor& y) = 0;
  /// A recurrent op over one step runs, so that this stream has a step `time`, whether a gradient reaches it or not.
  virtual void recurrent_step(std::string_view layer, std::string_view stream, index_t time) = 0;
  virtual void step_grad(const StepGrad& step) = 0;
  virtual void lag_norms(const LagNorms& norms) = 0;
  virtual void on_units(const UnitValues& units) = 0;
  /// tanh, sigmoid or relu.
  virtual void activation(const char* op, const Tensor& x, const Tensor& y) = 0;
  virtual void attention(const AttentionSummary& summary) = 0;
  virtual void targets(const LossTargets& targets) = 0;
  /// What a layer is called with. Where no gradient goes through it, it comes from outside: the input of the model.
  virtual void on_layer_input(const Tensor& x) = 0;
  virtual void on_layer_input(const IndexArray& ids) = 0;
  /// Dropout with this probability.
  virtual void dropout(double p) = 0;
  /// A layer that works otherwise in training runs in evaluation mode.
  virtual void evaluation(std::string_view layer) = 0;
  /// The gradients are complete, before clipping.
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

/// While it exists, ops on this thread belong to a layer. The name must outlive it.
class LayerScope {
 public:
  explicit LayerScope(std::string_view name) : outer_(current_) { current_ = name; }
  ~LayerScope() { current_ = outer_; }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  /// Passes x, a Tensor or an array of ids, to the probe as this layer's input.
  template <class Input>
  void input(const Input& x) const {
    if (Probe* probe = Probe::active()) probe->on_layer_input(x);
  }

  /// Returns y, after passing it to the probe as this layer's output.
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

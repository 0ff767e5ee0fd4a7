// Tape: records ops in the order in which they run, and calls their backward functions in reverse order.
//
//   Tape tape;
//   Tensor loss = cross_entropy(model(x), y);
//   tape.backward(loss);                       // gradients are in the parameters
//
// While a Tape exists, it records the ops of this thread that have a parameter, a variable or another tracked tensor as
// input. Without a tape nothing is recorded. Tapes nest: the innermost records, and tensors of an outer tape are
// constants for it. The backward pass is one loop over the nodes in reverse order of creation, without sorting or
// recursion; when it reaches a node, the node's gradient is complete.
#pragma once

#include <xtape/core/grads.hpp>
#include <xtape/core/parameter.hpp>
#include <xtape/core/probe.hpp>

#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// The 2-norm of a complete gradient.
struct GradNorm {
  std::string name;
  index_t time;  ///< the step, or -1
  double norm;
  std::string stream = {};  ///< of a StepGrad; empty for a tensor that is watched
};

/// The complete gradient of one state inside a recurrent op at one step, contributions of later steps included.
struct StepGrad {
  std::string_view layer;
  std::string_view stream;  ///< the op's name of this state, such as "hidden"
  index_t time;             ///< step t of the input, 0..T-1; of an op over one step see `Tape::next_step`
  const Array& grad;        ///< [B, H]; zeros for sequences that have no step t
};

struct TapeOptions {
  bool retain_graph = false;       ///< allow several backward passes; else each backward function is freed after use
  bool record_step_norms = false;  ///< add the norm of every StepGrad to `grad_norms`
};

/// An op's input, by address, so that recording copies no handle.
struct Operand {
  const Tensor* tensor;
  Operand(const Tensor& t) : tensor(&t) {}
};

class Tape {
 public:
  explicit Tape(TapeOptions options = {});
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A tracked tensor that is not a parameter, for an input whose gradient `grad` returns.
  Tensor variable(Array value);

  /// Runs the backward pass from `loss` and adds the gradients to those of the parameters. Throws TapeError if the loss
  /// has more than one element or is not on this tape, if this tape ran backward before (without retain_graph), or if a
  /// parameter changed since it was used; GradientError if a parameter still holds the gradient of a failed pass. If a
  /// backward function or a callback throws, the gradients of all parameters on the tape are invalid until
  /// `zero_grad()`.
  void backward(const Tensor& loss);

  /// The backward pass from a tensor of any shape with its upstream gradient `seed`. Throws as above, and ShapeError if
  /// the shapes differ.
  void backward(const Tensor& output, const Array& seed);

  /// The gradient of a variable after the last backward pass; zeros if none reached it. Throws TapeError for other
  /// tensors, GradientError if that pass failed.
  Array grad(const Tensor& variable) const;

  /// Adds the norm of this tensor's gradient to `grad_norms` under a name; `time` is a step or -1. The gradient is that
  /// of all ways to the loss, also those inside its op (see `Grads::show`).
  void watch(const Tensor& tensor, std::string name, index_t time = -1);
  /// The norms so far, in the order in which the gradients were complete (last tensor first).
  const std::vector<GradNorm>& grad_norms() const { return grad_norms_; }

  /// Calls `callback` with the gradient of this tensor, complete as in `watch`; that of a parameter includes what
  /// earlier tapes added since `zero_grad()`. Not called if no gradient reaches the tensor.
  void on_grad(const Tensor& tensor, std::function<void(const Array&)> callback);

  /// Calls `callback` with every StepGrad of the recurrent ops on this tape, in reverse order of the steps.
  void on_step_grad(std::function<void(const StepGrad&)> callback);
  /// The number of StepGrads so far. They are computed only for `record_step_norms`, `on_step_grad` or a probe.
  index_t step_grads() const { return step_grads_; }

  /// The number of nodes recorded and not yet freed, on this tape, and on all tapes of this thread.
  index_t nodes() const { return live_; }
  static index_t live_nodes();
  /// The names of the recorded ops that are not yet freed, in order; "variable" and "parameter" for leaves.
  std::vector<const char*> ops() const;

  /// Records `y` = op(inputs) with its backward function, and returns y as a tensor of the tape. The function is called
  /// as `backward(upstream, grads)`; it is stored inline on the tape, may be move-only, and must capture detached
  /// tensors only. If no tape records, or no input is tracked on it, y is returned as it is. Throws TapeError for a
  /// tensor of a finished tape.
  template <class Backward>
  static Tensor record(const char* op, std::initializer_list<Operand> inputs, Tensor y, Backward backward) {
    return record(op, std::span<const Operand>(inputs.begin(), inputs.size()), std::move(y), std::move(backward));
  }
  template <class Backward>
  static Tensor record(const char* op, std::span<const Operand> inputs, Tensor y, Backward backward) {
    if (Tape* tape = recorder_of(op, inputs)) {
      tape->push(op, inputs, y, std::move(backward));
      if (tape->checks_) [[unlikely]]
        tape->check_forward(op, inputs, {&y, 1});
    }
    return y;
  }

  /// Records an op with several outputs, which become tensors of the tape. Its function is called as `backward(grads)`
  /// once the gradients of all outputs are complete, and reads them with `grads.upstream(i)`. It is not called if no
  /// gradient reached an output.
  template <class Backward>
  static void record(const char* op, std::initializer_list<Operand> inputs, std::span<Tensor> outputs,
                     Backward backward) {
    const std::span<const Operand> operands(inputs.begin(), inputs.size());
    if (Tape* tape = recorder_of(op, operands)) {
      tape->push(op, operands, outputs, std::move(backward));
      if (tape->checks_) [[unlikely]]
        tape->check_forward(op, operands, outputs);
    }
  }

  /// A recurrent op over one step runs in this layer: its time, the number of those that ran before on this tape.
  index_t next_step(std::string_view layer);

  /// Whether `record` would record an op with these inputs. If not, what only its backward function needs is not
  /// computed.
  static bool tracks(std::initializer_list<Operand> inputs);

  /// The tape that records on this thread, or null.
  static Tape* recorder();

 private:
  friend class Grads;
  friend class Parameter;

  /// An op with several outputs is a node without a tensor, followed by one node for each output, which only holds its
  /// gradient.
  struct Node {
    const char* op = nullptr;
    void (*run)(void* backward, Grads& grads) = nullptr;
    void (*destroy)(void* backward) = nullptr;
    void* backward = nullptr;
    const std::uint32_t* inputs = nullptr;  // node numbers, kUntracked for constants
    std::uint32_t input_count = 0;
    std::uint32_t output_count = 0;  // of an op with several outputs
    bool observed = false;
    bool shown = false;    // its observers got a gradient from the op that made it
    bool reached = false;  // this backward pass brought it a gradient
    Parameter::Data* parameter = nullptr;
    std::uint64_t version = 0;
    Storage grad;
    Shape shape;
  };

  /// What a probe that checks ops gets of an op.
  struct Checked {
    std::string layer;
    std::vector<Tensor> inputs;  // detached
  };

  struct Observer {
    std::function<void(const Array&)> callback;  // empty: only the norm
    std::string name;
    index_t time;
  };

  enum class State { recording, running, finished };
  static constexpr std::uint32_t kUntracked = 0xffffffff;

  static Tape* recorder_of(const char* op, std::span<const Operand> inputs);
  static Tape* live_tape(std::uint64_t serial);

  Tensor leaf(const Parameter& parameter);
  Node& append(const char* op);
  Node& append(const char* op, Tensor& y);
  void* reserve(std::size_t bytes);
  const std::uint32_t* copy_inputs(std::span<const Operand> inputs);
  Node& node_of(const char* call, const Tensor& tensor);
  Output grad_buffer(std::uint32_t node);
  void run(std::uint32_t last, const Array& seed);
  void finish_node(std::uint32_t index);
  void finish_outputs(std::uint32_t index);
  void observe(std::uint32_t index, const Array& grad);
  void show_output(std::uint32_t index, const Array& grad);
  bool watches_steps() const { return options_.record_step_norms || !step_callbacks_.empty() || probe_; }
  void observe_step(const StepGrad& step);
  void check_parameters() const;
  void show_to(Probe& probe);
  void leave_probe() noexcept;
  void check_forward(const char* op, std::span<const Operand> inputs, std::span<const Tensor> outputs);
  void check_backward(std::uint32_t index, const Array* upstream);
  void invalidate() noexcept;
  void free_backward(Node& node) noexcept;

  template <class Backward>
  void push(const char* op, std::span<const Operand> inputs, Tensor& y, Backward backward) {
    void* place = reserve_backward<Backward>();
    const std::uint32_t* nodes = copy_inputs(inputs);
    Node& node = append(op, y);
    set_backward(node, nodes, inputs.size(), place, std::move(backward));
    node.run = [](void* r, Grads& grads) { (*static_cast<Backward*>(r))(grads.upstream_.array(), grads); };
  }

  template <class Backward>
  void push(const char* op, std::span<const Operand> inputs, std::span<Tensor> outputs, Backward backward) {
    void* place = reserve_backward<Backward>();
    const std::uint32_t* nodes = copy_inputs(inputs);
    Node& node = append(op);
    set_backward(node, nodes, inputs.size(), place, std::move(backward));
    node.run = [](void* r, Grads& grads) { (*static_cast<Backward*>(r))(grads); };
    node.output_count = static_cast<std::uint32_t>(outputs.size());
    append_outputs(op, outputs);
  }

  template <class Backward>
  void* reserve_backward() {
    static_assert(alignof(Backward) <= alignof(std::max_align_t));
    return reserve(sizeof(Backward));
  }

  template <class Backward>
  static void set_backward(Node& node, const std::uint32_t* inputs, std::size_t count, void* place, Backward backward) {
    node.inputs = inputs;
    node.input_count = static_cast<std::uint32_t>(count);
    node.backward = new (place) Backward(std::move(backward));
    node.destroy = [](void* r) { static_cast<Backward*>(r)->~Backward(); };
  }

  void append_outputs(const char* op, std::span<Tensor> outputs);

  template <class T>
  using PoolVector = std::vector<T, PoolAllocator<T>>;

  TapeOptions options_;
  std::uint64_t serial_;
  Tape* outer_;  // the tape below this one on this thread
  State state_ = State::recording;
  bool failed_ = false;       // a backward pass threw
  bool checks_ = false;       // the probe gets every op
  bool interrupted_ = false;  // an inner tape may have replaced the nodes that parameters remember
  index_t live_ = 0;
  PoolVector<Node> nodes_;
  PoolVector<std::pair<Parameter, std::uint32_t>> leaves_;
  PoolVector<std::pair<void*, std::size_t>> chunks_;  // hold the backward functions and input lists
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::multimap<std::uint32_t, Observer> observers_;  // by node; equal keys in order of insertion
  std::vector<GradNorm> grad_norms_;
  std::vector<std::function<void(const StepGrad&)>> step_callbacks_;
  index_t step_grads_ = 0;
  PoolVector<std::pair<std::string, index_t>> next_steps_;  // by layer
  std::shared_ptr<Probe> probe_;
  std::map<std::uint32_t, Checked> checked_;  // by node
};

}  // namespace xtape::inline XTAPE_DTYPE

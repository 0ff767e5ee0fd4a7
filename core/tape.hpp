// Tape: records ops in the order they run and plays their rules backward.
//
//   Tape tape;
//   Tensor loss = cross_entropy(model(x), y);
//   tape.backward(loss);                       // gradients are in the parameters
//
// While a Tape lives, ops on this thread that touch a parameter, a variable or another tracked tensor are recorded on
// it. Without one nothing is recorded and inference costs nothing. Tapes nest: the innermost records, and tensors of an
// outer tape enter it as constants. Creation order is the order of the backward pass, so there is no sort and no
// recursion, and a gradient is complete when the loop reaches its tensor.
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

/// Of what a gradient is: any tensor, or the hidden or cell state of a recurrent op at one time step.
enum class GradKind { output, hidden, cell };

/// What `watch` saw: the gradient's 2-norm when it was complete.
struct GradNorm {
  std::string name;
  index_t time;  ///< time step, -1 for none
  double norm;
  GradKind kind = GradKind::output;
};

/// The complete gradient of one state inside a recurrent op that runs a whole sequence: of h_t or c_t, with everything
/// that reaches it through later steps. A probe sees those of cell ops too.
struct StepGrad {
  std::string_view name;  ///< the op's, see SequenceOptions
  GradKind kind;          ///< hidden or cell
  index_t time;           ///< step t of the input, 0..T-1
  const Array& grad;      ///< [B, H]; zeros for sequences that have no step t
};

struct TapeOptions {
  bool retain_graph = false;       ///< allow several backward passes (Jacobians); the default frees each rule after use
  bool record_step_norms = false;  ///< note the norm of every StepGrad in `grad_norms`
};

/// An op's input, by address: no handle is copied to record it.
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

  /// A tracked tensor that is no parameter: an input whose gradient is wanted. See `grad`.
  Tensor variable(Array value);

  /// Runs every rule from `loss` back. Gradients are added to the parameters'. Throws TapeError if the loss has more
  /// than one element or is not on this tape, if this tape ran backward before (without retain_graph), or if a
  /// parameter changed since it was used; GradientError if a parameter still holds the gradient of a failed pass. If a
  /// rule or callback throws, the gradients of all parameters on the tape are invalid until `zero_grad()`.
  void backward(const Tensor& loss);

  /// The same from a tensor of any shape with its upstream gradient `seed`. Throws ShapeError if the shapes differ.
  void backward(const Tensor& output, const Array& seed);

  /// Gradient of a variable after the last backward: zeros if nothing reached it. Throws TapeError for other tensors,
  /// GradientError if that backward failed.
  Array grad(const Tensor& variable) const;

  /// Notes the norm of this tensor's gradient under a name; `time` is a time step or -1.
  void watch(const Tensor& tensor, std::string name, index_t time = -1);
  /// Norms noted so far, in the order in which they were complete (last tensor first).
  const std::vector<GradNorm>& grad_norms() const { return grad_norms_; }

  /// Calls `callback` with the gradient of this tensor once it is complete; a parameter's includes what earlier tapes
  /// added since `zero_grad()`. Not called if no gradient reaches the tensor.
  void on_grad(const Tensor& tensor, std::function<void(const Array&)> callback);

  /// Calls `callback` with every StepGrad of every recurrent op on this tape, from the step that ran last to the first.
  void on_step_grad(std::function<void(const StepGrad&)> callback);
  /// StepGrads handed out so far: 0 unless `record_step_norms`, `on_step_grad` or a probe asked; else nothing is spent
  /// on them.
  index_t step_grads() const { return step_grads_; }

  /// Nodes recorded and not yet freed, on this tape and on all tapes of this thread.
  index_t nodes() const { return live_; }
  static index_t live_nodes();
  /// Names of what is recorded and not yet freed, in order; variables and parameters stand under these words.
  std::vector<const char*> ops() const;

  /// Records `y` = op(inputs) with its rule, and returns y with its place on the tape. The rule is called as
  /// `rule(upstream, grads)`; it is move-only, stored inline on the tape, and captures detached tensors only. If no
  /// tape records, or no input is tracked on it, y is returned as it is. Throws TapeError for a tensor of a finished
  /// tape.
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

  /// The same for an op with several outputs, which get their places on the tape. The rule is called as `rule(grads)`
  /// once the gradients of all outputs are complete, and reads them by `grads.upstream(i)`. It is not called if no
  /// gradient reached any of them.
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

  /// True if `record` with these inputs would keep a rule: what only the rule needs is computed only then.
  static bool tracks(std::initializer_list<Operand> inputs);

  /// The tape that records now on this thread, or null.
  static Tape* recorder();

 private:
  friend class Grads;
  friend class Parameter;

  /// An op with several outputs is one node without a tensor, followed by a node for each output that only holds its
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
    bool reached = false;  // this backward pass brought it a gradient
    Parameter::Data* parameter = nullptr;
    std::uint64_t version = 0;
    Storage grad;
    Shape shape;
  };

  /// What a probe that checks ops is told of one.
  struct Checked {
    std::string layer;
    std::vector<Tensor> inputs;  // detached
  };

  struct Observer {
    std::function<void(const Array&)> callback;  // empty: a watch
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
  bool failed_ = false;       // backward threw half-way
  bool checks_ = false;       // the probe wants to see each op
  bool interrupted_ = false;  // an inner tape may have made parameters forget their nodes here
  index_t live_ = 0;
  PoolVector<Node> nodes_;
  PoolVector<std::pair<Parameter, std::uint32_t>> leaves_;
  PoolVector<std::pair<void*, std::size_t>> chunks_;  // rules and input lists live here
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::multimap<std::uint32_t, Observer> observers_;  // by node; equal keys keep their order
  std::vector<GradNorm> grad_norms_;
  std::vector<std::function<void(const StepGrad&)>> step_callbacks_;
  index_t step_grads_ = 0;
  std::shared_ptr<Probe> probe_;
  std::map<std::uint32_t, Checked> checked_;  // by node
};

}  // namespace xtape::inline XTAPE_DTYPE

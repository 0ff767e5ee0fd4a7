#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/tape.hpp>

#include <algorithm>
#include <atomic>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

thread_local Tape* innermost = nullptr;
thread_local index_t live_nodes_here = 0;
thread_local std::size_t nodes_of_last_tape = 256;

}  // namespace

Tape::Tape(TapeOptions options) : options_(options), serial_(next_serial()), outer_(innermost) {
  nodes_.reserve(nodes_of_last_tape);  // steps are alike, so no node moves
  if (outer_) outer_->interrupted_ = true;
  innermost = this;
  if (Probe* probe = Probe::attached_) [[unlikely]]
    show_to(*probe);
}

Tape::~Tape() {
  leave_probe();
  nodes_of_last_tape = std::max<std::size_t>(64, nodes_.size());
  for (Node& node : nodes_) free_backward(node);
  for (auto& [chunk, bytes] : chunks_) pool::deallocate(chunk, bytes);
  live_nodes_here -= live_;
  Tape** link = &innermost;
  while (*link && *link != this) link = &(*link)->outer_;
  if (*link) *link = outer_;
}

Tape* Tape::recorder() {
  Tape* tape = innermost;
  while (tape && tape->state_ != State::recording) tape = tape->outer_;
  return tape;
}

Tape* Tape::live_tape(std::uint64_t serial) {
  Tape* tape = innermost;
  while (tape && tape->serial_ != serial) tape = tape->outer_;
  return tape && tape->state_ == State::recording ? tape : nullptr;
}

Tape* Tape::recorder_of(const char* op, std::span<const Operand> inputs) {
  Tape* tape = recorder();
  bool tracked = false;
  for (const Operand& input : inputs) {
    const std::uint64_t serial = input.tensor->tape_;
    if (serial == 0) continue;
    if (tape && serial == tape->serial_) tracked = true;
    else if (!live_tape(serial))
      throw TapeError(op,
                      "an input belongs to a tape that is finished or on another thread; call detach() to use its "
                      "value");
  }
  return tracked ? tape : nullptr;
}

bool Tape::tracks(std::initializer_list<Operand> inputs) {
  const Tape* tape = recorder();
  if (!tape) return false;
  for (const Operand& input : inputs)
    if (input.tensor->tape_ == tape->serial_) return true;
  return false;
}

index_t Tape::live_nodes() { return live_nodes_here; }

std::vector<const char*> Tape::ops() const {
  std::vector<const char*> out;
  for (const Node& node : nodes_)
    if (node.op) out.push_back(node.op);
  return out;
}

Tape::Node& Tape::append(const char* op) {
  if (nodes_.size() >= kUntracked) throw TapeError(op, "the tape is full: it holds at most 2^32 - 1 nodes");
  Node& node = nodes_.emplace_back();
  node.op = op;
  ++live_;
  ++live_nodes_here;
  return node;
}

Tape::Node& Tape::append(const char* op, Tensor& y) {
  Node& node = append(op);
  node.shape = y.shape();
  y.tape_ = serial_;
  y.node_ = static_cast<std::uint32_t>(nodes_.size() - 1);
  return node;
}

void Tape::append_outputs(const char* op, std::span<Tensor> outputs) {
  auto* source = static_cast<std::uint32_t*>(reserve(sizeof(std::uint32_t)));
  *source = static_cast<std::uint32_t>(nodes_.size() - 1);
  for (Tensor& output : outputs) {
    Node& node = append(op, output);
    node.inputs = source;
    node.input_count = 1;
  }
}

void* Tape::reserve(std::size_t bytes) {
  constexpr std::size_t align = alignof(std::max_align_t);
  bytes = (bytes + align - 1) / align * align;
  if (bytes > free_bytes_) {
    const std::size_t chunk = std::max(bytes, kChunkBytes);
    chunks_.reserve(chunks_.size() + 1);
    free_ = static_cast<char*>(pool::allocate(chunk));
    free_bytes_ = chunk;
    chunks_.emplace_back(free_, chunk);
  }
  void* place = free_;
  free_ += bytes;
  free_bytes_ -= bytes;
  return place;
}

const std::uint32_t* Tape::copy_inputs(std::span<const Operand> inputs) {
  auto* nodes = static_cast<std::uint32_t*>(reserve(inputs.size() * sizeof(std::uint32_t)));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    nodes[i] = inputs[i].tensor->tape_ == serial_ ? inputs[i].tensor->node_ : kUntracked;
  return nodes;
}

Tensor Tape::variable(Array value) {
  if (state_ != State::recording) throw TapeError("variable", "this tape is finished");
  Tensor out(std::move(value));
  append("variable", out);
  return out;
}

Tensor Tape::leaf(const Parameter& parameter) {
  Parameter::Data& data = *parameter.data_;
  Tensor out;
  out.storage_ = data.value;
  out.tape_ = serial_;
  if (data.leaf_tape != serial_) {
    bool known = false;
    if (interrupted_) {
      for (const auto& [other, node] : leaves_) {
        if (!other.same_as(parameter)) continue;
        data.leaf_node = node;
        known = true;
      }
    }
    if (!known) {
      leaves_.reserve(leaves_.size() + 1);
      Node& node = append("parameter", out);
      node.parameter = &data;
      node.version = data.version;
      data.leaf_node = out.node_;
      leaves_.emplace_back(parameter, out.node_);
    }
    data.leaf_tape = serial_;
  }
  out.node_ = data.leaf_node;
  return out;
}

Tape::Node& Tape::node_of(const char* call, const Tensor& tensor) {
  if (state_ == State::finished)
    throw TapeError(call, "this tape has run backward and is released; record on a new tape, or set retain_graph");
  if (state_ == State::running)
    throw UnsupportedError(call, "this tape is running backward, and gradients of gradients are not offered");
  if (tensor.tape_ == 0)
    throw TapeError(call, "the tensor is not tracked: no parameter or variable of this tape leads to it");
  if (tensor.tape_ != serial_) throw TapeError(call, "the tensor belongs to another tape");
  return nodes_[tensor.node_];
}

void Tape::watch(const Tensor& tensor, std::string name, index_t time) {
  node_of("watch", tensor).observed = true;
  observers_.insert({tensor.node_, {nullptr, std::move(name), time}});
}

void Tape::on_grad(const Tensor& tensor, std::function<void(const Array&)> callback) {
  if (!callback) throw ValueError("on_grad", "the callback is empty");
  node_of("on_grad", tensor).observed = true;
  observers_.insert({tensor.node_, {std::move(callback), "", -1}});
}

void Tape::on_step_grad(std::function<void(const StepGrad&)> callback) {
  if (!callback) throw ValueError("on_step_grad", "the callback is empty");
  step_callbacks_.push_back(std::move(callback));
}

index_t Tape::next_step(std::string_view layer) {
  for (auto& [known, next] : next_steps_)
    if (known == layer) return next++;
  next_steps_.emplace_back(layer, 1);
  return 0;
}

void Tape::backward(const Tensor& loss) {
  node_of("backward", loss);
  if (loss.numel() != 1) throw TapeError("backward", "a loss with one element, or a seed of its shape", loss.shape());
  backward(loss, Tensor::ones(loss.shape()).value());
}

void Tape::backward(const Tensor& output, const Array& seed) {
  node_of("backward", output);
  check_shape("backward", "a seed", seed.shape(), output.shape());
  check_parameters();
  run(output.node_, seed);
}

void Tape::check_parameters() const {
  for (const auto& [parameter, node] : leaves_) {
    if (parameter.version() != nodes_[node].version)
      throw TapeError("backward", "parameter " + parameter.name() + " changed between forward and backward");
    if (parameter.data_->state == Parameter::GradState::invalid)
      throw GradientError("backward", "parameter " + parameter.name() +
                                          " holds the gradient of a pass that failed half-way; call zero_grad()");
  }
}

Output Tape::grad_buffer(std::uint32_t index) {
  Node& node = nodes_[index];
  node.reached = true;
  if (Parameter::Data* parameter = node.parameter) {
    const bool first = parameter->state != Parameter::GradState::summed;
    if (first && parameter->grad.shape() != node.shape) parameter->grad = empty_array(node.shape);
    parameter->state = Parameter::GradState::summed;
    parameter->cached_norm = -1;
    return {parameter->grad.data(), !first};
  }
  if (!node.grad) {
    node.grad = Storage(node.shape);
    return {node.grad.edit(), false};
  }
  if (!node.grad.unique()) node.grad = Storage(node.grad.array());  // shared with another gradient, see Grads::pass
  return {node.grad.edit(), true};
}

void Tape::run(std::uint32_t last, const Array& seed) {
  state_ = State::running;
  leave_probe();
  for (Node& node : nodes_) {
    node.grad = Storage();
    node.reached = node.shown = false;
  }
  try {
    kernels::scaled(seed.data(), 1, grad_buffer(last), numel(seed));
    for (std::uint32_t i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) finish_node(i);
  } catch (...) {
    invalidate();
    throw;
  }
  state_ = options_.retain_graph ? State::recording : State::finished;
}

void Tape::finish_node(std::uint32_t index) {
  Node& node = nodes_[index];
  if (node.parameter) {
    if (node.observed && node.reached) observe(index, node.parameter->grad);
  } else if (node.output_count > 0) {
    finish_outputs(index);
  } else if (node.grad) {
    const bool is_output = !node.run && node.input_count > 0;  // finish_outputs shows it
    if (node.observed && !is_output) observe(index, node.grad.array());
    if (node.run) {
      Storage upstream = std::move(nodes_[index].grad);
      Grads grads(*this, index, upstream);
      node.run(node.backward, grads);
      if (checks_) [[unlikely]]
        check_backward(index, &upstream.array());
    }
  }
  if (!options_.retain_graph) free_backward(node);
}

void Tape::finish_outputs(std::uint32_t index) {
  Node& node = nodes_[index];
  const std::span<Node> outputs(nodes_.data() + index + 1, node.output_count);
  if (std::any_of(outputs.begin(), outputs.end(), [](const Node& output) { return static_cast<bool>(output.grad); })) {
    Storage none;
    Grads grads(*this, index, none);
    node.run(node.backward, grads);
    if (checks_) [[unlikely]]
      check_backward(index, nullptr);
  }
  for (std::uint32_t i = node.output_count; i-- > 0;) {
    Node& output = outputs[i];
    if (output.observed && output.grad && !output.shown) observe(index + 1 + i, output.grad.array());
    output.grad = Storage();
  }
}

void Tape::show_output(std::uint32_t index, const Array& grad) {
  nodes_[index].shown = true;
  observe(index, grad);
}

void Tape::observe(std::uint32_t index, const Array& grad) {
  const auto [first, last] = observers_.equal_range(index);
  for (auto it = first; it != last; ++it) {
    const Observer& observer = it->second;
    if (observer.callback) {
      observer.callback(grad);
    } else {
      const double norm = kernels::norm(grad.data(), numel(grad));
      grad_norms_.push_back({observer.name, observer.time, norm});
    }
  }
}

void Tape::observe_step(const StepGrad& step) {
  ++step_grads_;
  if (options_.record_step_norms) {
    const double norm = kernels::norm(step.grad.data(), numel(step.grad));
    grad_norms_.push_back({std::string(step.layer), step.time, norm, std::string(step.stream)});
  }
  for (const auto& callback : step_callbacks_) callback(step);
  if (probe_) {
    ++Probe::calls_;
    probe_->step_grad(step);
  }
}

void Tape::invalidate() noexcept {
  for (auto& [parameter, node] : leaves_) parameter.data_->state = Parameter::GradState::invalid;
  for (Node& node : nodes_) {
    free_backward(node);
    node.grad = Storage();
  }
  state_ = State::finished;
  failed_ = true;
}

void Tape::free_backward(Node& node) noexcept {
  if (!node.op) return;
  if (node.backward) node.destroy(node.backward);
  node.backward = nullptr;
  node.run = nullptr;
  node.op = nullptr;
  --live_;
  --live_nodes_here;
}

Array Tape::grad(const Tensor& variable) const {
  if (variable.tape_ != serial_) throw TapeError("grad", "the tensor belongs to another tape, or to none");
  const Node& node = nodes_[variable.node_];
  if (node.inputs || node.parameter)
    throw TapeError("grad", "only variables keep their gradient; use on_grad for other tensors");
  if (failed_) throw GradientError("grad", "the backward pass failed half-way, so the gradient is not complete");
  return node.grad ? node.grad.array() : Tensor::zeros(node.shape).value();
}

}  // namespace xtape::inline XTAPE_DTYPE

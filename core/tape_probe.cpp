// The part of Tape that calls its probe.
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

void Tape::show_to(Probe& probe) {
  if (Probe::active_) return;  // a tape inside a pass that the probe already sees
  probe_ = probe.shared_from_this();
  checks_ = probe.checks_ops();
  Probe::active_ = &probe;
}

/// Once a tape runs backward or ends, the following ops do not belong to its pass.
void Tape::leave_probe() noexcept {
  if (probe_) Probe::active_ = nullptr;
}

void Tape::check_forward(const char* op, std::span<const Operand> inputs, std::span<const Tensor> outputs) {
  Checked checked{std::string(LayerScope::current()), {}};
  for (const Operand& input : inputs)
    checked.inputs.push_back(input.tensor->defined() ? input.tensor->detach() : Tensor());
  const std::uint32_t node =
      outputs.size() == 1 && nodes_[outputs[0].node_].run ? outputs[0].node_ : outputs[0].node_ - 1;
  ++Probe::calls_;
  probe_->on_op({op, checked.layer, false, checked.inputs, outputs, nullptr});
  checked_.emplace(node, std::move(checked));
}

void Tape::check_backward(std::uint32_t index, const Array* upstream) {
  const Node& node = nodes_[index];
  const Checked& checked = checked_.at(index);
  std::vector<Tensor> made;
  for (std::uint32_t i = 0; i < node.input_count; ++i) {
    Tensor& gradient = made.emplace_back();
    if (node.inputs[i] == kUntracked) continue;
    const Node& input = nodes_[node.inputs[i]];
    if (input.parameter && input.reached) gradient = Tensor(input.parameter->grad);
    else if (input.grad) gradient.storage_ = input.grad;
  }
  ++Probe::calls_;
  probe_->on_op({node.op, checked.layer, true, checked.inputs, made, upstream});
  checked_.erase(index);
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/recurrent_forward.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::gemm;
using kernels::MatrixView;

/// H, from weight_hh [G H, H].
index_t hidden_size(const char* op, const GateLayout& layout, const RecurrentWeights& w) {
  if (w.weight_hh.rank() != 2 || w.weight_hh.size(0) != layout.gates * w.weight_hh.size(1))
    throw ShapeError(op, "weight_hh [" + std::to_string(layout.gates) + " H, H]", w.weight_hh.shape());
  return w.weight_hh.size(1);
}

/// I, from x [B, T, I] or [B, I].
index_t input_size(const char* op, const Tensor& x, bool sequence) {
  if (x.rank() != (sequence ? 3 : 2)) throw ShapeError(op, sequence ? "x [B, T, I]" : "x [B, I]", x.shape());
  return x.size(-1);
}

Array zeros(const Shape& shape) { return Tensor::zeros(shape).value(); }

}  // namespace

RecurrentForward::RecurrentForward(const char* op, const GateLayout& layout, const Tensor& x, const Tensor& h0,
                                   const Tensor& c0, const RecurrentWeights& w, const SequenceOptions* options)
    : layout_(&layout),
      sequence_(options != nullptr),
      reverse_(options && options->reverse),
      name_(options && !options->name.empty() ? options->name : op),
      hidden_(hidden_size(op, layout, w)),
      inputs_(input_size(op, x, sequence_)),
      order_(op, x.size(0), sequence_ ? x.size(1) : 1, options ? options->lengths : IndexArray(), reverse_),
      weight_ih_(w.weight_ih.detach()),
      weight_hh_(w.weight_hh.detach()) {
  const index_t batch = order_.batch();
  check_shape(op, "weight_ih", w.weight_ih.shape(), Shape{layout.gates * hidden_, inputs_});
  const auto check_given = [op](const char* what, const Tensor& given, const Shape& shape) {
    if (given.defined()) check_shape(op, what, given.shape(), shape);
  };
  check_given("bias_ih", w.bias_ih, Shape{layout.gates * hidden_});
  check_given("bias_hh", w.bias_hh, Shape{layout.gates * hidden_});
  check_given("a hidden state", h0, Shape{batch, hidden_});
  check_given("a cell state", c0, Shape{batch, hidden_});
  y_shape_ = sequence_ ? Shape{batch, order_.time(), hidden_} : Shape{batch, hidden_};
  element_count(y_shape_, op);
  x_ = order_.pack(x);
  bias_ = zeros(Shape{layout.columns * hidden_});
  add_bias(w.bias_ih, layout.input);
  add_bias(w.bias_hh, layout.hidden);
  project_inputs();
  start(h0, h_before_, h_last_);
  if (layout.cells) start(c0, c_before_, c_last_);
  if (Tape* tape = Tape::recorder(); tape && !sequence_) {
    name_ = layer();
    time_ = tape->next_step(name_);
    if (Probe* probe = Probe::active()) probe->recurrent_step(name_, kHiddenStream, time_);
  }
  y_ = empty_array(y_shape_);
  if (order_.rows() < batch * order_.time()) kernels::fill(y_.data(), 0, numel(y_));
}

void RecurrentForward::project_inputs() {
  const index_t rows = order_.rows(), stride = layout_->columns * hidden_;
  gates_ = empty_array({rows, stride});
  index_t filled = 0;
  for (const GateBlock& block : layout_->input) {
    // Columns without an input start at zero.
    for (; filled < block.column; ++filled)
      for (index_t row = 0; row < rows; ++row)
        std::fill_n(gates_.data() + row * stride + filled * hidden_, hidden_, real(0));
    gemm({rows, block.count * hidden_, inputs_}, {x_.data(), inputs_},
         {weight_ih_.data() + block.row * hidden_ * inputs_, inputs_, true},
         {offset_pointer(gates_.data(), block.column * hidden_), stride});
    filled += block.count;
  }
}

void RecurrentForward::add_bias(const Tensor& bias, std::span<const GateBlock> blocks) {
  if (!bias.defined()) return;
  for (const GateBlock& block : blocks)
    kernels::scaled(bias.data() + block.row * hidden_, 1, {bias_.data() + block.column * hidden_, true},
                    block.count * hidden_);
}

void RecurrentForward::start(const Tensor& state, Array& before, Array& last) const {
  before = empty_array({order_.rows(), hidden_});
  last = empty_array({order_.batch(), hidden_});
  if (state.defined()) order_.sort(state.data(), hidden_, last.data());
  else kernels::fill(last.data(), 0, numel(last));
  std::copy_n(last.data(), first_rows() * hidden_, before.data());
}

kernels::RecurrentArrays RecurrentForward::arrays() {
  kernels::RecurrentArrays out = {.steps = order_.steps(),
                                  .hidden = hidden_,
                                  .weight = weight_hh_.data(),
                                  .bias = bias_.data(),
                                  .gates = gates_.data(),
                                  .h = {h_before_.data(), h_last_.data()},
                                  .c = {nullptr, nullptr},
                                  .y = y_.data()};
  if (layout_->cells) out.c = {c_before_.data(), c_last_.data()};
  return out;
}

std::string_view RecurrentForward::layer() const {
  return sequence_ || LayerScope::current().empty() ? std::string_view(name_) : LayerScope::current();
}

void RecurrentForward::show_gate(Probe& probe, const char* gate, real low, index_t column) const {
  probe.on_units({layer(), gate, low, 1, offset_pointer(gates_.data(), column * hidden_), order_.rows(), hidden_,
                  layout_->columns * hidden_});
}

void RecurrentForward::show_states(Probe& probe, real low) const {
  probe.on_units({layer(), kHiddenStream, low, 1, y_.data(), numel(y_) / hidden_, hidden_, hidden_});
}

Array RecurrentForward::sorted(const Array* upstream) const {
  Array out = zeros(Shape{order_.batch(), hidden_});
  if (upstream) order_.sort(upstream->data(), hidden_, out.data());
  return out;
}

Array RecurrentForward::in_batch_order(const Array& last) const {
  Array out = empty_array(last.shape());
  order_.unsort(last.data(), hidden_, {out.data()});
  return out;
}

std::array<Tensor, 3> RecurrentForward::outputs() {
  std::array<Tensor, 3> out;
  index_t i = 0;
  out[i++] = Tensor(std::move(y_));
  if (sequence_) out[i++] = Tensor(in_batch_order(h_last_));
  if (layout_->cells) out[i++] = Tensor(in_batch_order(c_last_));
  return out;
}

RecurrentBackward::RecurrentBackward(const RecurrentForward& pass, Grads& grads)
    : pass_(pass), grads_(grads), dy_(grads.upstream(0)) {
  const index_t batch = pass.order_.batch(), rows = pass.order_.rows();
  if (!dy_) {
    dy_zeros_ = zeros(Shape{batch, pass.order_.time(), pass.hidden_});
    dy_ = &dy_zeros_;
  }
  dh_ = pass.sorted(pass.sequence_ ? grads.upstream(1) : nullptr);
  if (pass.layout_->cells) dc_ = pass.sorted(grads.upstream(pass.cell_output()));
  dgates_ = empty_array(pass.gates_.shape());
  const bool watches = grads.watches_steps(), cells = pass.layout_->cells;
  if (watches) dh_steps_ = empty_array({rows, pass.hidden_});
  if (cells && (watches || grads.watches(pass.cell_output()))) dc_steps_ = empty_array({rows, pass.hidden_});
}

kernels::RecurrentGrads RecurrentBackward::arrays() {
  const auto given = [](Array& x) { return x.dimension() ? x.data() : nullptr; };
  return {.dy = dy_->data(),
          .dh = dh_.data(),
          .dc = given(dc_),
          .dgates = dgates_.data(),
          .dh_steps = given(dh_steps_),
          .dc_steps = given(dc_steps_)};
}

void RecurrentBackward::finish(MatrixView second) {
  const GateLayout& layout = *pass_.layout_;
  if (dh_steps_.dimension()) report_steps();
  if (layout.cells && grads_.watches(pass_.cell_output())) show_cells();
  add_input();
  add_state(1, dh_);
  add_weights(2, layout.input, pass_.inputs_, {pass_.x_.data(), pass_.inputs_}, {pass_.x_.data(), pass_.inputs_});
  const MatrixView states{pass_.h_before_.data(), pass_.hidden_};
  add_weights(3, layout.hidden, pass_.hidden_, states, second.data ? second : states);
  if (grads_.needs(4) || grads_.needs(5)) {
    const index_t columns = layout.columns * pass_.hidden_;
    Array sums = empty_array({columns});
    kernels::sum_axis(dgates_.data(), 1, pass_.order_.rows(), columns, 1, {sums.data()});
    add_bias(4, layout.input, sums);
    add_bias(5, layout.hidden, sums);
  }
  if (layout.cells) add_state(6, dc_);
}

void RecurrentBackward::show_cells() {
  const kernels::PackedSteps steps = pass_.order_.steps();
  Array last = pass_.sorted(grads_.upstream(pass_.cell_output()));
  for (index_t step = 0; step < steps.steps; ++step)  // later steps overwrite earlier ones
    std::copy_n(dc_steps_.data() + steps.offset[step] * pass_.hidden_,
                (steps.offset[step + 1] - steps.offset[step]) * pass_.hidden_, last.data());
  grads_.show(pass_.cell_output(), pass_.in_batch_order(last));
}

void RecurrentBackward::report_steps() {
  const Array dh = pass_.order_.by_time(dh_steps_);
  const Array dc = dc_steps_.dimension() ? pass_.order_.by_time(dc_steps_) : Array();
  const index_t time = pass_.order_.time();
  for (index_t i = 0; i < time; ++i) {
    const index_t t = pass_.reverse_ ? i : time - 1 - i;
    report(kHiddenStream, dh, t);
    if (dc.dimension()) report(kCellStream, dc, t);
  }
}

void RecurrentBackward::report(const char* stream, const Array& step_grads, index_t time) {
  Array grad = empty_array(dh_.shape());
  std::copy_n(step_grads.data() + time * numel(grad), numel(grad), grad.data());
  grads_.step({pass_.name_, stream, pass_.sequence_ ? time : pass_.time_, grad});
}

MatrixView RecurrentBackward::gates(const GateBlock& block, bool transposed) const {
  return {offset_pointer(dgates_.data(), block.column * pass_.hidden_), pass_.layout_->columns * pass_.hidden_,
          transposed};
}

void RecurrentBackward::add_input() {
  if (!grads_.needs(0)) return;
  const index_t rows = pass_.order_.rows(), inputs = pass_.inputs_, h = pass_.hidden_;
  Array dx = empty_array({rows, inputs});
  real beta = 0;
  for (const GateBlock& block : pass_.layout_->input) {  // dX = dG W
    gemm({rows, inputs, block.count * h}, gates(block, false),
         {pass_.weight_ih_.data() + block.row * h * inputs, inputs}, {dx.data(), inputs}, {.beta = beta});
    beta = 1;
  }
  pass_.order_.unpack(dx, grads_.buffer(0));
}

void RecurrentBackward::add_weights(index_t input, std::span<const GateBlock> blocks, index_t width, MatrixView first,
                                    MatrixView second) {
  if (!grads_.needs(input)) return;
  const Output to = grads_.buffer(input);
  for (const GateBlock& block : blocks)  // dW = dG^T X
    gemm({block.count * pass_.hidden_, width, pass_.order_.rows()}, gates(block, true), block.row == 0 ? first : second,
         {to.data + block.row * pass_.hidden_ * width, width}, {.beta = to.beta()});
}

void RecurrentBackward::add_bias(index_t input, std::span<const GateBlock> blocks, const Array& sums) {
  if (!grads_.needs(input)) return;
  const Output to = grads_.buffer(input);
  for (const GateBlock& block : blocks)
    kernels::scaled(sums.data() + block.column * pass_.hidden_, 1, to.at(block.row * pass_.hidden_),
                    block.count * pass_.hidden_);
}

void RecurrentBackward::add_state(index_t input, const Array& grad) {
  if (!grads_.needs(input)) return;
  pass_.order_.unsort(grad.data(), pass_.hidden_, grads_.buffer(input));
}

}  // namespace xtape::inline XTAPE_DTYPE

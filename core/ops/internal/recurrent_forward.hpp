// What rnn, lstm and gru share around their kernels: packing, the product with the inputs, the gradients of the
// weights. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/ops/internal/packed_sequence.hpp>
#include <xtape/core/ops/recurrent.hpp>

#include <array>
#include <span>

namespace xtape::inline XTAPE_DTYPE {

/// `count` gates: their weights start at gate `row` of a weight matrix, their values at gate `column` of the kernels.
struct GateBlock {
  index_t row;
  index_t column;
  index_t count;
};

struct GateLayout {
  index_t gates;    ///< blocks of H rows in a weight matrix
  index_t columns;  ///< blocks of H columns in the kernels' rows of gates
  bool cells;       ///< there is a state c
  std::span<const GateBlock> input;
  std::span<const GateBlock> hidden;
};

/// The names of the states in logs: h_t, and c_t where there is one.
constexpr const char *kHiddenStream = "hidden", *kCellStream = "cell";

/// The low end of a nonlinearity's range; the high end is 1.
constexpr real kSigmoidLow = 0, kTanhLow = -1;

/// The forward pass of a recurrent op, and what its backward function needs. Operands on the tape: x 0, h0 1, weight_ih
/// 2, weight_hh 3, bias_ih 4, bias_hh 5, c0 6. Outputs of a sequence op: y, h and c; of a cell op: h and c.
class RecurrentForward {
 public:
  /// Checks the shapes and computes the product with the inputs. Without `options` it is one step of a cell, x [B, I].
  /// Throws ShapeError or IndexError.
  RecurrentForward(const char* op, const GateLayout& layout, const Tensor& x, const Tensor& h0, const Tensor& c0,
                   const RecurrentWeights& weights, const SequenceOptions* options);

  kernels::RecurrentArrays arrays();
  /// The number of rows of step 0 in `arrays().h.before`.
  index_t first_rows() const { return order_.rows() > 0 ? order_.steps().offset[1] : 0; }

  /// After the kernel and before outputs(): passes one gate, or the states, to the probe. Their range is low..1.
  void show_gate(Probe& probe, const char* gate, real low, index_t column) const;
  void show_states(Probe& probe, real low) const;

  /// After the kernel: the outputs in the order of the tape, and their number.
  std::array<Tensor, 3> outputs();
  bool is_sequence() const { return sequence_; }
  index_t output_count() const { return cell_output() + (layout_->cells ? 1 : 0); }

 private:
  index_t cell_output() const { return sequence_ ? 2 : 1; }
  friend class RecurrentBackward;
  friend class LagGradients;

  std::string_view layer() const;
  /// An upstream gradient of a last state, sorted by descending length, [B, H]; zeros if there is none.
  Array sorted(const Array* upstream) const;
  void project_inputs();
  void add_bias(const Tensor& bias, std::span<const GateBlock> blocks);
  void start(const Tensor& state, Array& before, Array& last) const;
  Array in_batch_order(const Array& last) const;

  const GateLayout* layout_;
  bool sequence_;
  bool reverse_;
  std::string name_;
  index_t time_ = -1;  // of a cell, if a tape records
  index_t hidden_, inputs_;
  PackedSequence order_;
  Shape y_shape_;
  Tensor x_;  // packed, [N, I]
  Tensor weight_ih_, weight_hh_;
  Array bias_, gates_, h_before_, h_last_, c_before_, c_last_, y_;
};

/// The backward pass: the kernel's arrays, and the gradients of the operands from them.
class RecurrentBackward {
 public:
  RecurrentBackward(const RecurrentForward& pass, Grads& grads);

  kernels::RecurrentGrads arrays();

  /// After the kernel: passes on the gradients of the steps, and adds the gradients of all operands. `second` is what
  /// the weights of the second hidden block, if there is one, were multiplied with instead of the states.
  void finish(kernels::MatrixView second = {nullptr, 0});

 private:
  /// Shows the gradients of the last c to those who watch it: with what flows through h.
  void show_cells();
  void report_steps();
  void report(const char* stream, const Array& step_grads, index_t time);
  void add_input();
  void add_weights(index_t input, std::span<const GateBlock> blocks, index_t width, kernels::MatrixView first,
                   kernels::MatrixView second);
  void add_bias(index_t input, std::span<const GateBlock> blocks, const Array& sums);
  void add_state(index_t input, const Array& grad);
  kernels::MatrixView gates(const GateBlock& block, bool transposed) const;

  const RecurrentForward& pass_;
  Grads& grads_;
  Array dy_zeros_;
  const Array* dy_;
  Array dh_, dc_, dgates_, dh_steps_, dc_steps_;
};

}  // namespace xtape::inline XTAPE_DTYPE

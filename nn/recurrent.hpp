// What RNN, LSTM and GRU share: parameters by layer and direction, and the way through them.
#pragma once

#include <xtape/core/ops/recurrent.hpp>
#include <xtape/core/param_store.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Initial values, each of one gate's block: [H, I], [H, H] and [H]. Default: uniform within 1/sqrt(H), as PyTorch.
struct RecurrentInit {
  Init input = {};
  Init recurrent = {};  ///< init::orthogonal() keeps the size of a gradient that passes many steps
  Init bias = {};
};

/// Hidden states [B, H] of every layer and direction, in the order of PyTorch's h_0 (layer 0 forward, layer 0 reverse,
/// layer 1 forward, ...); empty for zeros.
struct RNNState {
  std::vector<Tensor> h;

  /// The same values off the tape: gradients end here (truncated backpropagation through time).
  RNNState detach() const;
};

/// Parameters of one layer in one direction, as named by PyTorch: weight_ih [G H, I], weight_hh [G H, H], bias_ih and
/// bias_hh [G H], each with a suffix such as "_l0_reverse"; G gates, each a block of H rows.
class RecurrentParameters {
 public:
  struct Options {
    index_t gates;
    index_t input;
    index_t hidden;
    bool bias;
    RecurrentInit init;
    std::optional<double> forget_bias;  ///< of the second gate, as the sum of both biases
  };

  RecurrentParameters(const Scope& scope, const std::string& suffix, const Options& options);

  /// As operands, tracked under a live tape.
  RecurrentWeights weights() const;

  Parameter weight_ih;
  Parameter weight_hh;
  Parameter bias_ih;  ///< empty without bias
  Parameter bias_hh;
  std::string layer;  ///< name of the cell's scope
};

/// Layers on top of each other, each in one direction or in both, with dropout between them.
class RecurrentStack {
 public:
  struct Options {
    const char* op;
    index_t gates;
    index_t input;
    index_t hidden;
    index_t layers;
    bool bias;
    bool bidirectional;
    double dropout;
    RecurrentInit init;
    std::optional<double> forget_bias = {};
  };

  /// One layer in one direction: its y [B, T, H].
  using Run = std::function<Tensor(const Tensor& x, std::size_t index, const RecurrentWeights& weights,
                                   const SequenceOptions&)>;

  /// Throws ValueError for a size below 1 or a probability outside 0..1.
  RecurrentStack(const Scope& scope, const Options& options);
  RecurrentStack(RecurrentStack&&) = default;
  RecurrentStack(const RecurrentStack&) = delete;

  /// The last layer's y [B, T, D H], D directions.
  Tensor operator()(Tensor x, const IndexArray& lengths, const Run& run) const;

  /// Throws ShapeError unless there is a state for every layer and direction, or none at all.
  void check_states(const std::vector<Tensor>& states) const;

  const std::vector<RecurrentParameters>& parameters() const { return parameters_; }

 private:
  const char* op_;
  Scope scope_;
  index_t layers_;
  index_t directions_;
  double dropout_;
  mutable RandomKeyStream masks_;
  std::vector<RecurrentParameters> parameters_;  // layer by layer, forward before reverse
};

/// State i, or an empty tensor.
inline Tensor state_at(const std::vector<Tensor>& states, std::size_t i) {
  return states.empty() ? Tensor() : states[i];
}

/// Every tensor off the tape.
std::vector<Tensor> detached(const std::vector<Tensor>& tensors);

}  // namespace xtape::inline XTAPE_DTYPE

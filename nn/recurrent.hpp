// Common parts of RNN, LSTM and GRU: parameters by layer and direction, and the loop over layers and directions.
#pragma once

#include <xtape/core/ops/recurrent.hpp>
#include <xtape/core/param_store.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Initializers of the parameters, applied to each gate's block: [H, I], [H, H] and [H]. Default: uniform in [-a, a)
/// with a = 1/sqrt(H), as in PyTorch.
struct RecurrentInit {
  Init input = {};
  Init recurrent = {};  ///< init::orthogonal() keeps the length of a gradient over many steps
  Init bias = {};
};

/// Hidden states [B, H] of every layer and direction, in the order of PyTorch's h_0 (layer 0 forward, layer 0 reverse,
/// layer 1 forward, ...). An empty list means zeros.
struct RNNState {
  std::vector<Tensor> h;

  /// Returns these states without gradient tracking, for truncated backpropagation through time.
  RNNState detach() const;
};

/// Parameters of one layer in one direction, named as in PyTorch: weight_ih [G H, I], weight_hh [G H, H], bias_ih and
/// bias_hh [G H], each with a suffix such as "_l0_reverse". There are G gates; each is a block of H rows.
class RecurrentParameters {
 public:
  struct Options {
    index_t gates;
    index_t input;
    index_t hidden;
    bool bias;
    RecurrentInit init;
    std::optional<double> forget_bias;  ///< initial value of bias_ih + bias_hh in the block of the second gate
  };

  RecurrentParameters(const Scope& scope, const std::string& suffix, const Options& options);

  /// The parameters as operands of an op. A live tape tracks them.
  RecurrentWeights weights() const;

  Parameter weight_ih;
  Parameter weight_hh;
  Parameter bias_ih;  ///< undefined without bias
  Parameter bias_hh;
  std::string layer;  ///< name of the cell's scope
};

/// A stack of recurrent layers, each in one direction or in both, with dropout between the layers.
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

  /// Runs one layer in one direction over x [B, T, I] and returns y [B, T, H]. `index` counts layers and directions as
  /// RNNState does.
  using Run = std::function<Tensor(const Tensor& x, std::size_t index, const RecurrentWeights& weights,
                                   const SequenceOptions&)>;

  /// Throws ValueError for a size below 1 or a dropout outside 0..1.
  RecurrentStack(const Scope& scope, const Options& options);
  RecurrentStack(RecurrentStack&&) = default;
  RecurrentStack(const RecurrentStack&) = delete;

  /// Returns y [B, T, D H] of the last layer, for D directions.
  Tensor operator()(Tensor x, const IndexArray& lengths, const Run& run) const;

  /// Throws ShapeError unless `states` is empty or has one state for every layer and direction.
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

/// State i, or an undefined tensor if the list is empty.
inline Tensor state_at(const std::vector<Tensor>& states, std::size_t i) {
  return states.empty() ? Tensor() : states[i];
}

/// Each tensor without gradient tracking.
std::vector<Tensor> detached(const std::vector<Tensor>& tensors);

}  // namespace xtape::inline XTAPE_DTYPE

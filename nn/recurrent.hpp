// What RNN, GRU and LSTM share: parameters by layer and direction, states, and the loop over layers and directions.
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

/// States [B, H] of every layer and direction, in the order of PyTorch's h_0 and c_0 (layer 0 forward, layer 0 reverse,
/// layer 1 forward, ...). An empty list means zeros. Only LSTM has states c.
struct RecurrentState {
  std::vector<Tensor> h;
  std::vector<Tensor> c = {};

  /// Returns these states without gradient tracking, for truncated backpropagation through time.
  RecurrentState detach() const;
};

struct RecurrentOutput {
  Tensor y;              ///< [B, T, D H]: h of the last layer, both directions concatenated
  RecurrentState state;  ///< after the last unpadded step of each sequence; of a reverse direction, after the first
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
    std::optional<double> forget_bias = {};  ///< initial value of bias_ih + bias_hh in the block of the second gate
  };

  RecurrentParameters(const Scope& scope, const std::string& suffix, const Options& options);
  RecurrentParameters(RecurrentParameters&&) = default;
  RecurrentParameters(const RecurrentParameters&) = delete;  // a copy would silently share weights

  /// The parameters as operands of an op. A live tape tracks them.
  RecurrentWeights weights() const;

  Parameter weight_ih;
  Parameter weight_hh;
  Parameter bias_ih;  ///< undefined without bias
  Parameter bias_hh;
  std::string layer;  ///< name of the cell's scope
};

/// A stack of recurrent layers over whole sequences, each in one direction or in both (D = 1 or 2), with dropout
/// between the layers. Batch first, unlike PyTorch's default. Layers above the first have D H inputs. RNN, GRU and LSTM
/// give it their op and their parameters and add nothing, so a stack can be moved out of each.
class RecurrentStack {
 public:
  RecurrentStack(RecurrentStack&&) = default;
  RecurrentStack(const RecurrentStack&) = delete;

  /// x [B, T, I] -> y [B, T, D H]. `lengths` [B], each 0..T, gives the number of unpadded steps of each sequence; empty
  /// means T for all. See RecurrentSequence for the effect of padding. Throws ShapeError, or IndexError for a length
  /// outside 0..T.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const IndexArray& lengths = {}) const;

  /// Of every layer and direction, in the order of RecurrentState.
  const std::vector<RecurrentParameters>& parameters() const { return parameters_; }

 protected:
  /// The op of one layer in one direction, such as lstm.
  using Op = std::function<RecurrentSequence(const Tensor& x, const Tensor& h0, const Tensor& c0,
                                             const RecurrentWeights& weights, const SequenceOptions& options)>;
  struct Options {
    const char* name;  ///< of the op
    index_t layers;
    bool bidirectional;
    double dropout;
    bool cells = false;  ///< the op has a cell state
  };

  /// `first` is for the first layer. Throws ValueError for a size below 1 or a dropout outside 0..1.
  RecurrentStack(const Scope& scope, const Options& options, RecurrentParameters::Options first, Op op);

 private:
  void check(const RecurrentState& state) const;

  Options options_;
  Scope scope_;
  Op op_;
  mutable RandomKeyStream masks_;
  std::vector<RecurrentParameters> parameters_;  // layer by layer, forward before reverse
};

}  // namespace xtape::inline XTAPE_DTYPE

// A network for every architecture that is compared: the same input and output layers around different middle layers.
#pragma once

#include "layer_norm_recurrent.hpp"

#include <string>
#include <variant>
#include <vector>

namespace xtape::examples {

/// "rnn", "gru", "lstm-0" and "lstm-1" (forget bias 0 and 1), "transformer".
const std::vector<std::string>& architecture_names();
/// "default" (PyTorch's), "xavier", "he", "orthogonal", "large" (Gaussian of gain 3).
const std::vector<std::string>& init_names();
/// Initial values of the weights of the middle layers; empty for "default".
Init init_of(const std::string& name);

struct SequenceNetworkConfig {
  std::string architecture;
  index_t vocab = 0;   ///< number of input symbols, or 0
  index_t inputs = 0;  ///< size of an input vector, if vocab is 0
  index_t outputs = 1;
  index_t steps = 64;  ///< the longest sequence
  index_t width = 64;
  index_t layers = 1;  ///< recurrent layers or transformer blocks
  std::string init = "default";
  bool layer_norm = false;  ///< inside the recurrence; a transformer always has norms
};

/// Causal: the output of a step depends only on that step and earlier ones. The transformer has 4 heads, sinusoidal
/// positions and a final norm.
class SequenceNetwork {
 public:
  /// Throws ValueError for an unknown name, sizes below 1, several layers with layer_norm.
  SequenceNetwork(const Scope& scope, const SequenceNetworkConfig& config);

  /// The input layer: symbols [B, T], or vectors [B, T, inputs] -> [B, T, width].
  Tensor embed(const IndexArray& ids) const;
  Tensor embed(const Tensor& values) const;
  /// The other layers: [B, T, width] -> [B, T, outputs].
  Tensor operator()(const Tensor& embedded) const;

  /// The recurrent weights of an rnn, for the bound on its gradients; else null.
  const Parameter* vanilla_recurrent() const;

 private:
  struct Transformer {
    Array positions;  // [steps, width]
    std::vector<TransformerBlock> blocks;
    LayerNorm norm;
  };
  using Middle = std::variant<RNN, GRU, LSTM, LayerNormRecurrent, Transformer>;
  static Middle middle_of(const Scope& scope, const SequenceNetworkConfig& config);

  std::optional<Embedding> embedding_;
  std::optional<Linear> input_;
  Middle middle_;
  Linear head_;
};

}  // namespace xtape::examples

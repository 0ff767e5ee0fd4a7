// Recurrent layers with layer normalization inside the recurrence (Ba, Kiros, Hinton 2016, section 3.1 and supplement).
#pragma once

#include <xtape/xtape.hpp>

#include <optional>

namespace xtape::examples {

struct LayerNormRecurrentOptions {
  CellKind cell = CellKind::rnn;
  RecurrentInit init = {};                 ///< of each gate's block; the biases of the norms replace its biases
  std::optional<double> forget_bias = {};  ///< lstm only
};

/// x [B, T, I] -> every h_t [B, T, H], one step at a time.
/// rnn: h = tanh(norm(W x + U h)). gru and lstm: norm_input(W x) replaces W x and norm_hidden(U h) replaces U h in the
/// usual equations; the lstm also has h = o tanh(norm_cell(c)).
class LayerNormRecurrent {
 public:
  LayerNormRecurrent(const Scope& scope, index_t input, index_t hidden, const LayerNormRecurrentOptions& options);

  Tensor operator()(const Tensor& x) const;

 private:
  struct State {
    Tensor h, c;
  };
  /// One step from the input's part [B, G H].
  State next(const Tensor& a, const State& state) const;

  CellKind cell_;
  index_t hidden_;
  RecurrentParameters weights_;
  LayerNorm norm_input_, norm_hidden_;
  std::optional<LayerNorm> norm_cell_;
};

}  // namespace xtape::examples

// A recurrent network that attends to its own earlier states.
#pragma once

#include <xtape/nn/gru.hpp>
#include <xtape/nn/linear.hpp>
#include <xtape/nn/rnn.hpp>

#include <variant>

namespace xtape::inline XTAPE_DTYPE {

/// The score of a query q and a key k, both of width H.
enum class ScoreKind {
  dot,         ///< q.k
  scaled_dot,  ///< q.k / sqrt(H)
  additive,    ///< w.tanh(W q + U k) (Bahdanau et al. 2015)
};

struct AttentionRNNOptions {
  ScoreKind score = ScoreKind::scaled_dot;
  bool gated = false;  ///< the cell is a GRU, not a vanilla RNN
  RecurrentInit init = {};
};

/// A recurrent layer whose state attends to all earlier states. The cell gives the query h~_t = cell(x_t, h_{t-1}). The
/// attention weights alpha_t are the softmax of the scores of h~_t with h_1..h_{t-1}. The new state is h_t = h~_t + a_t
/// with a_t = sum over j < t of alpha_tj h_j, and a_1 = 0. So every state, and its gradient, is one step away from
/// every earlier state. Not in PyTorch.
///
/// x [B, T, I] -> [B, T, H]. Steps after the end of a sequence have no influence on the steps before. Parameters:
/// cell.* (see RNNCell, GRUCell); additive score: query_proj.weight [H, H], key_proj.weight [H, H], score_weight
/// [1, H].
class AttentionRNN {
 public:
  /// Throws ValueError if a size is less than 1.
  AttentionRNN(const Scope& scope, index_t input, index_t hidden, const AttentionRNNOptions& options = {});
  AttentionRNN(AttentionRNN&&) = default;
  AttentionRNN(const AttentionRNN&) = delete;

  /// Starts from h_0 = 0. Throws ShapeError unless x is [B, T, I] with T >= 1.
  Tensor operator()(const Tensor& x) const;

 private:
  using Cell = std::variant<RNNCell, GRUCell>;
  static Cell cell_of(const Scope& scope, index_t input, index_t hidden, const AttentionRNNOptions& options);
  Tensor look_back(const Tensor& query, const Tensor& states, const Tensor& keys) const;

  ScoreKind score_;
  index_t hidden_;
  Cell cell_;
  std::optional<Linear> query_proj_, key_proj_;
  Parameter score_weight_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// A recurrent network that looks back at its own states.
#pragma once

#include <xtape/nn/gru.hpp>
#include <xtape/nn/linear.hpp>
#include <xtape/nn/rnn.hpp>

#include <variant>

namespace xtape::inline XTAPE_DTYPE {

/// How a query q weighs a key k, both of width H.
enum class ScoreKind {
  dot,         ///< q.k
  scaled_dot,  ///< q.k / sqrt(H)
  additive,    ///< w.tanh(W q + U k) (Bahdanau et al. 2015)
};

struct AttentionRNNOptions {
  ScoreKind score = ScoreKind::scaled_dot;
  bool gated = false;  ///< the cell is a GRU instead of a vanilla network
  RecurrentInit init = {};
};

/// h~_t = cell(x_t, h_{t-1}) is the query, a_t = sum over j < t of alpha_tj h_j with alpha_t the softmax of its scores
/// with h_1..h_{t-1} (a_1 = 0), and h_t = h~_t + a_t: every state is one step away from every earlier one, and so is
/// its gradient. x [B, T, I] -> [B, T, H]; steps after a sequence's end have no influence on those before. Not in
/// PyTorch. Parameters: cell.* (see RNNCell, GRUCell); additive: query_proj.weight [H, H], key_proj.weight [H, H],
/// score_weight [1, H].
class AttentionRNN {
 public:
  /// Throws ValueError if a size is less than 1.
  AttentionRNN(const Scope& scope, index_t input, index_t hidden, const AttentionRNNOptions& options = {});
  AttentionRNN(AttentionRNN&&) = default;
  AttentionRNN(const AttentionRNN&) = delete;

  /// From h_0 = 0. Throws ShapeError.
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

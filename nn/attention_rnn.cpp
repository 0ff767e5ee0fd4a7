#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/score_attention.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/nn/attention_rnn.hpp>
#include <xtape/nn/init.hpp>

namespace xtape::inline XTAPE_DTYPE {

AttentionRNN::Cell AttentionRNN::cell_of(const Scope& scope, index_t input, index_t hidden,
                                         const AttentionRNNOptions& o) {
  if (o.gated) return Cell(std::in_place_type<GRUCell>, scope, input, hidden, GRUCellOptions{.init = o.init});
  return Cell(std::in_place_type<RNNCell>, scope, input, hidden, RNNCellOptions{.init = o.init});
}

AttentionRNN::AttentionRNN(const Scope& scope, index_t input, index_t hidden, const AttentionRNNOptions& options)
    : score_(options.score), hidden_(hidden), cell_(cell_of(scope / "cell", input, hidden, options)) {
  if (score_ != ScoreKind::additive) return;
  query_proj_.emplace(scope / "query_proj", hidden, hidden, LinearOptions{.bias = false});
  key_proj_.emplace(scope / "key_proj", hidden, hidden, LinearOptions{.bias = false});
  score_weight_ = scope.parameter("score_weight", {1, hidden}, init::uniform_fan_in(hidden));
}

/// Returns sum_j alpha_j h_j [B, H] for a query [B, H] over the earlier states h_j [B, 1, t, H] and their keys.
Tensor AttentionRNN::look_back(const Tensor& query, const Tensor& states, const Tensor& keys) const {
  const auto row = [&](const Tensor& x) { return reshape(x, {x.size(0), 1, 1, hidden_}); };
  const Tensor mixed =
      score_ == ScoreKind::additive
          ? attention_from_scores(additive_scores(row((*query_proj_)(query)), keys, score_weight_), states)
          : scaled_dot_product_attention(row(query), keys, states, {.scale = score_ == ScoreKind::dot ? 1.0 : 0.0});
  return reshape(mixed, {query.size(0), hidden_});
}

Tensor AttentionRNN::operator()(const Tensor& x) const {
  if (x.rank() != 3 || x.size(1) < 1) throw ShapeError("attention_rnn", "x [B, T, I] with T at least 1", x.shape());
  Tensor h, states, keys;  // the states so far and their keys, [B, 1, t, H]
  const auto extended = [](const Tensor& rows, const Tensor& row) {
    return rows.defined() ? concat({rows, row}, 2) : row;
  };
  for (index_t t = 0; t < x.size(1); ++t) {
    const Tensor input = squeeze(slice(x, 1, t, t + 1), {1});
    h = std::visit([&](const auto& cell) { return cell(input, h); }, cell_);
    if (t > 0) h = h + look_back(h, states, keys);
    const Tensor row = reshape(h, {x.size(0), 1, 1, hidden_});
    states = extended(states, row);
    keys = score_ == ScoreKind::additive ? extended(keys, (*key_proj_)(row)) : states;
  }
  return squeeze(states, {1});
}

}  // namespace xtape::inline XTAPE_DTYPE

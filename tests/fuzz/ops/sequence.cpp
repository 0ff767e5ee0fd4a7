// Attention, heads and recurrent networks.
#include "check.hpp"

#include <algorithm>
#include <cmath>

namespace xtape::fuzz {

namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// Mostly the extent itself.
std::int64_t mostly(Choices& choices, std::int64_t extent) {
  return choices.below(16) == 1 ? choices.within(0, 3) : extent;
}

void try_attention(Choices& choices) {
  const std::int64_t batch = choices.within(0, 2), key_heads = choices.within(1, 2), groups = choices.within(1, 2);
  const std::int64_t queries = choices.within(0, 6), keys = choices.within(0, 18), width = choices.within(1, 5),
                     out = choices.within(1, 4), heads = key_heads * groups;
  const bool causal = choices.yes(), padded = choices.yes();
  const Plain q = choices.numbers({batch, mostly(choices, heads), queries, width}),
              k = choices.numbers({mostly(choices, batch), key_heads, keys, mostly(choices, width)}),
              v = choices.numbers({batch, key_heads, mostly(choices, keys), out});
  const Plain padding = choices.numbers({batch, keys});
  AttentionOptions options;
  options.causal = causal;
  if (padded) options.key_padding = mask_of(padding);
  const bool fits =
      k.shape[0] == batch && k.shape[3] == width && v.shape[2] == keys && q.shape[1] > 0 && q.shape[1] % key_heads == 0;
  if (q.shape[1] == 0 || k.shape[3] == 0 || (batch == 0 && padded)) return;  // of nothing there is nothing to compare
  std::optional<Plain> want;
  if (fits)
    want = plain({batch, q.shape[1], queries, out}, [&](const Index& i) {
      const std::int64_t head = i[1] / (q.shape[1] / key_heads);
      double total = 0, sum = 0;
      for (std::int64_t s = 0; s < keys; ++s) {
        if ((causal && s > i[2] + keys - queries) || (padded && padding.at({i[0], s}) > 0)) continue;
        double score = 0;
        for (std::int64_t d = 0; d < width; ++d) score += q.at({i[0], i[1], i[2], d}) * k.at({i[0], head, s, d});
        const double weight = std::exp(score / std::sqrt(static_cast<double>(width)));
        total += weight;
        sum += weight * v.at({i[0], head, s, i[3]});
      }
      return total > 0 ? sum / total : 0.0;
    });
  check(
      "scaled_dot_product_attention", {q, k, v},
      [&](const auto& t) { return scaled_dot_product_attention(t[0], t[1], t[2], options); }, want);
}

void try_heads(Choices& choices) {
  const Plain x = choices.numbers(choices.below(6) == 1 ? choices.shape() : choices.shape_of(choices.yes() ? 3 : 4));
  if (x.rank() == 4 || choices.yes()) {
    std::optional<Plain> want;
    if (x.rank() == 4)
      want = plain({x.shape[0], x.shape[2], x.shape[1] * x.shape[3]}, [&](const Index& i) {
        return x.at({i[0], i[2] / x.shape[3], i[1], i[2] % x.shape[3]});
      });
    return check(
        "join_heads", {x}, [](const auto& t) { return join_heads(t[0]); }, want);
  }
  const std::int64_t first = choices.within(-1, 3), heads = choices.within(1, 3), width = choices.within(1, 4);
  std::optional<Plain> want;
  if (x.rank() == 3 && first >= 0 && first + heads * width <= x.shape[2])
    want = plain({x.shape[0], heads, x.shape[1], width}, [&](const Index& i) {
      return x.at({i[0], i[2], first + i[1] * width + i[3]});
    });
  check(
      "split_heads", {x}, [&](const auto& t) { return split_heads(t[0], first, heads, width); }, want);
}

/// Gates of one step by hand: W x + b and U h, [G H] each.
struct Gates {
  std::vector<double> input, state;
};

void try_recurrent(Choices& choices) {
  const std::int64_t kind = choices.below(3), gates = kind == 0 ? 1 : kind == 1 ? 4 : 3;
  const std::int64_t batch = choices.within(1, 3), time = choices.within(1, 5), in = choices.within(1, 4),
                     hidden = choices.within(1, 5);
  const Plain x = choices.numbers({batch, time, mostly(choices, in)}),
              w = choices.numbers({mostly(choices, gates * hidden), in}),
              u = choices.numbers({gates * hidden, mostly(choices, hidden)}), b = choices.numbers({gates * hidden});
  for (const Plain* operand : {&x, &w, &u})
    if (count_of(operand->shape) == 0) return;  // of nothing there is nothing to compare
  const bool fits = x.shape[2] == in && w.shape[0] == gates * hidden && u.shape[1] == hidden;
  std::optional<Plain> want;
  if (fits) {
    want = plain({batch, time, hidden}, [](const Index&) { return 0.0; });
    for (std::int64_t n = 0; n < batch; ++n) {
      std::vector<double> h(hidden), c(hidden);
      for (std::int64_t t = 0; t < time; ++t) {
        Gates g{std::vector<double>(gates * hidden), std::vector<double>(gates * hidden)};
        for (std::int64_t row = 0; row < gates * hidden; ++row) {
          g.input[row] = b.values[row];
          for (std::int64_t i = 0; i < in; ++i) g.input[row] += w.at({row, i}) * x.at({n, t, i});
          for (std::int64_t i = 0; i < hidden; ++i) g.state[row] += u.at({row, i}) * h[i];
        }
        const auto sum = [&](std::int64_t gate, std::int64_t i) {
          return g.input[gate * hidden + i] + g.state[gate * hidden + i];
        };
        for (std::int64_t i = 0; i < hidden; ++i) {
          if (kind == 0) h[i] = std::tanh(sum(0, i));
          if (kind == 1) {
            c[i] = sigmoid_of(sum(1, i)) * c[i] + sigmoid_of(sum(0, i)) * std::tanh(sum(2, i));
            h[i] = sigmoid_of(sum(3, i)) * std::tanh(c[i]);
          }
          if (kind == 2) {
            const double r = sigmoid_of(sum(0, i)), z = sigmoid_of(sum(1, i));
            h[i] = (1 - z) * std::tanh(g.input[2 * hidden + i] + r * g.state[2 * hidden + i]) + z * h[i];
          }
          want->values[(n * time + t) * hidden + i] = h[i];
        }
      }
    }
  }
  static constexpr const char* kNames[] = {"rnn", "lstm", "gru"};
  check(
      kNames[kind], {x, w, u, b},
      [&](const auto& t) {
        const RecurrentWeights weights{t[1], t[2], t[3], {}};
        if (kind == 0) return rnn(t[0], {}, weights).y;
        return kind == 1 ? lstm(t[0], {}, {}, weights).y : gru(t[0], {}, weights).y;
      },
      want);
}

}  // namespace

void try_sequence(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_attention, try_heads, try_recurrent};
  kOps[choices.below(3)](choices);
}

}  // namespace xtape::fuzz

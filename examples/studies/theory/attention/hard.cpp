// Hard attention: which weights learn, and how many inputs a position reads.
#include "groups.hpp"

namespace xtape::theory {

namespace {

/// Largest |central difference| of the output to all elements of an operand.
template <class F>
double largest_quotient(const F& f, const Array& x) {
  double out = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Array up = x, down = x;
    up.data()[i] += 1e-4, down.data()[i] -= 1e-4;
    out = std::max(out, largest_difference(f(up).value(), f(down).value()) / 2e-4);
  }
  return out;
}

/// Trains a language model with argmax attention: the share of its weights that never moved, and the numbers of weights
/// of W_q and W_k, and of W_v, that did.
struct Moved {
  double unmoved_share, queries_and_keys, values;
};
Moved moved_by(double decay) {
  ParamStore store(71);
  const TransformerLM model(
      store.root(),
      {.vocab = 9, .context = 8, .width = 16, .heads = 2, .layers = 1, .attention = attention_config("argmax", 2)});
  const Array before = store.parameter("layers.0.self_attn.in_proj_weight").value();
  const Snapshot start = store.snapshot();
  AdamW opt(all_parameters(store, decay));
  Random random(72, "ids");
  IndexArray ids = empty_array<IndexArray>({8, 8});
  for (int step = 0; step < 30; ++step) {
    for (auto& id : ids) id = random.below(9);
    Tape tape;
    tape.backward(cross_entropy(model(ids), ids));
    opt.step(1e-2);
    store.zero_grad();
  }
  double unmoved = 0, all = 0;
  const Snapshot end = store.snapshot();
  for (std::size_t p = 0; p < start.parameters.size(); ++p)
    for (std::size_t i = 0; i < start.parameters[p].second.size(); ++i, ++all)
      unmoved += start.parameters[p].second.data()[i] == end.parameters[p].second.data()[i];
  const Array after = store.parameter("layers.0.self_attn.in_proj_weight").value();
  Moved out{unmoved / all, 0, 0};
  for (std::size_t row = 0; row < 48; ++row)
    for (std::size_t c = 0; c < 16; ++c)
      (row < 32 ? out.queries_and_keys : out.values) += after(row, c) != before(row, c);
  return out;
}

/// A9. Scores 3, 11, 5, 2: the second value is taken. Away from ties, small changes of q and k do not change the
/// choice.
void argmax_attention(Report& report) {
  Claim claim(report, {"A9", "Argmax attention passes no gradient to queries and keys: W_q and W_k never learn.",
                       "d v_argmax / d q = d v_argmax / d k = 0 away from ties", "the derivative of a constant"});
  const Array q = matrix(1, {1, 1, 2}), k = matrix(4, {1, 2, 0, 0, 3, 4, 5, 0, 0, 0, 0, 1});
  const Array v = matrix(4, {2, 0, 1, 1, 4, 3, 0, -1, 4, 1, 0, -1});
  const Array taken = reshape(hard_attention(head(q), head(k), head(v)), {3}).value();
  claim.equal("q = (1,1,2): largest difference to (1,4,3)", 0, largest_difference(taken, Array{1, 4, 3}));
  const auto by_q = [&](const Array& x) { return hard_attention(head(x), head(k), head(v)); };
  const auto by_k = [&](const Array& x) { return hard_attention(head(q), head(x), head(v)); };
  Tape tape;
  const Tensor tq = tape.variable(head(q).value()), tk = tape.variable(head(k).value()),
               tv = tape.variable(head(v).value());
  tape.backward(sum(hard_attention(tq, tk, tv)));
  claim.equal("tape: nonzero gradients of q and k", 0, nonzeros(tape.grad(tq)) + nonzeros(tape.grad(tk)));
  claim.equal("tape: nonzero gradients of v", 3, nonzeros(tape.grad(tv)));
  claim.equal("finite differences of q and k", 0, std::max(largest_quotient(by_q, q), largest_quotient(by_k, k)));
  const Moved plain = moved_by(0), decayed = moved_by(0.1);
  claim.equal("a model after 30 steps: weights of W_q and W_k that moved", 0, plain.queries_and_keys);
  claim.equal("weights of W_v that moved", 16 * 16, plain.values);
  claim.equal("with weight decay: weights of W_q and W_k that moved", 2 * 16 * 16, decayed.queries_and_keys);
  claim.wrong_statement("\"most parameters stay\": share of the model's parameters that never moved", 1,
                        plain.unmoved_share, 0.5, "only W_q and W_k (and their biases)");
}

constexpr index_t kPositions = 27;

/// x + sum over heads of hard attention from fixed queries and keys, layer by layer; head h of layer l of `chosen`
/// looks at the position chosen[l][h][i].
using Choices = std::vector<std::vector<std::vector<std::size_t>>>;
Tensor stacked(Tensor x, const Choices& choices) {
  const Tensor keys = head(diagonal(kPositions, 1));
  for (const auto& layer : choices) {
    const Tensor before = x;
    for (const auto& chosen : layer) {
      Array queries = Tensor::zeros({kPositions, kPositions}).value();
      for (std::size_t i = 0; i < kPositions; ++i) queries(i, chosen[i]) = 1;
      x = x + reshape(hard_attention(head(queries), keys, reshape(before, {1, 1, kPositions, 1})), {kPositions, 1});
    }
  }
  return x;
}

/// The largest number of positions that one position's output has a gradient to.
double field(const TensorMap& network, const Array& x) {
  const Array j = jacobian(network, x);
  const std::size_t width = x.size() / kPositions;
  double out = 0;
  for (std::size_t i = 0; i < kPositions; ++i) {
    double seen = 0;
    for (std::size_t p = 0; p < kPositions; ++p) {
      bool any = false;
      for (std::size_t o = 0; o < width; ++o)
        for (std::size_t c = 0; c < width; ++c) any |= j(i * width + o, p * width + c) != 0;
      seen += any;
    }
    out = std::max(out, seen);
  }
  return out;
}

/// A10. Each layer adds k positions to what a position reads: at most min((k+1)^n, N) after n layers.
void receptive_field(Report& report) {
  Claim claim(report, {"A10", "After n layers of hard attention with k heads a position reads at most (k+1)^n inputs.",
                       "nonzero input positions <= min((k+1)^n, N)", "counting paths"});
  Curve law{"min(3^n, N)", {}, {}, true}, met{"arranged", {}, {}, false, true},
      drawn{"random layers", {}, {}, false, true};
  Choices choices;
  std::size_t reach = 1;
  ParamStore store(73);
  std::vector<MultiHeadAttention> random_layers;
  const Array x = sample({1, kPositions, 4}, 74);
  for (index_t n = 1; n <= 4; ++n, reach *= 3) {
    auto& heads = choices.emplace_back(2, std::vector<std::size_t>(kPositions));
    for (std::size_t i = 0; i < kPositions; ++i)
      for (std::size_t h = 0; h < 2; ++h) heads[h][i] = (i + (h + 1) * reach) % kPositions;
    random_layers.emplace_back(
        store.root() / n,
        MultiHeadAttentionOptions{.width = 4, .heads = 2, .attention = attention_config("argmax", 2)});
    const double most = std::min(std::pow(3, n), static_cast<double>(kPositions));
    const auto stack_of_layers = [&](const Tensor& in) {
      Tensor y = in;
      for (const auto& layer : random_layers) y = y + layer(y);
      return y;
    };
    law.x.push_back(static_cast<double>(n)), law.y.push_back(most);
    met.x.push_back(static_cast<double>(n)),
        met.y.push_back(field([&](const Tensor& in) { return stacked(in, choices); }, sample({kPositions, 1}, 75)));
    drawn.x.push_back(static_cast<double>(n)), drawn.y.push_back(field(stack_of_layers, x));
    claim.at_most(std::to_string(n) + " random layers, 2 heads, N = 27: inputs with a gradient", most, drawn.y.back());
    claim.equal(std::to_string(n) + " layers arranged to meet the bound", most, met.y.back());
  }
  double reached = 0;  // positions where a large change alters position 0 of the output of one random layer
  const Array before = random_layers[0](x).value();
  for (std::size_t p = 0; p < kPositions; ++p) {
    bool any = false;
    for (double size : {-8.0, 8.0})
      for (std::size_t c = 0; c < 4; ++c) {
        Array changed = x;
        changed(0, p, c) += size;
        const Array after = random_layers[0](changed).value();
        for (std::size_t o = 0; o < 4; ++o) any |= after(0, 0, o) != before(0, 0, o);
      }
    reached += any;
  }
  claim.at_least("one random layer: inputs of which a large change, flipping an argmax, reaches position 0", 4,
                 reached);
  claim.plot({"What a position can read", "layers n", "input positions", false, false, {law, met, drawn}});
}

}  // namespace

void hard(Report& report) {
  argmax_attention(report);
  receptive_field(report);
}

}  // namespace xtape::theory

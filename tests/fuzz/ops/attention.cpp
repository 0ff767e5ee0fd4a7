// Every kind of attention, with masks.
#include "check.hpp"

#include <cmath>

namespace xtape::fuzz {

namespace {

double positive(double x) { return std::abs(x) + 0.125; }

/// Sizes of a problem: B, H', H, T, S, D and V in the headers of the ops.
struct Sizes {
  std::int64_t batch, key_heads, heads, queries, keys, width, out;

  std::int64_t key_head(std::int64_t head) const { return head * key_heads / heads; }
};

Sizes sizes(Choices& choices) {
  const std::int64_t key_heads = choices.within(1, 2), batch = choices.within(0, 2);
  return {batch,
          key_heads,
          key_heads * choices.within(1, 2),
          choices.within(0, 6),
          choices.within(0, 18),
          choices.within(1, 5),
          choices.within(1, 4)};
}

/// The masks of a problem: which pairs they mask, and whether their shapes are valid.
struct Hiding {
  bool causal = false;
  std::optional<Plain> padding, mask;

  bool fits(const Sizes& s) const {
    const Dimensions flat = {s.queries, s.keys}, full = {s.batch, s.queries, s.keys};
    return (!padding || padding->shape == Dimensions{s.batch, s.keys}) &&
           (!mask || mask->shape == flat || mask->shape == full);
  }
  bool masked(const Sizes& s, std::int64_t sequence, std::int64_t query, std::int64_t key) const {
    if (causal && key > query + s.keys - s.queries) return true;
    if (padding && padding->at({sequence, key}) > 0) return true;
    return mask && mask->at({sequence, query, key}) > 0;
  }
  AttentionOptions options() const {
    AttentionOptions o;
    o.causal = causal;
    if (padding) o.key_padding = mask_of(*padding);
    if (mask) o.mask = mask_of(*mask);
    return o;
  }
};

Hiding hiding(Choices& choices, const Sizes& s, bool masks = true) {
  Hiding out;
  out.causal = choices.yes();
  if (choices.yes()) out.padding = choices.numbers({choices.mostly(s.batch), choices.mostly(s.keys)});
  if (!masks) return out;
  const std::int64_t kind = choices.below(3);
  if (kind == 1) out.mask = choices.numbers({choices.mostly(s.queries), choices.mostly(s.keys)});
  if (kind == 2) out.mask = choices.numbers({choices.mostly(s.batch), s.queries, choices.mostly(s.keys)});
  return out;
}

// weight of a key for the query at an index of the result
using Score = std::function<double(const Index&, std::int64_t key)>;

/// sum over the unmasked keys of weight(key) v(key) / sum of weight(key), or 0 if the denominator is 0.
Plain weighted(const Sizes& s, const Hiding& hidden, const Plain& v, const Score& weight) {
  return plain({s.batch, s.heads, s.queries, s.out}, [&](const Index& i) {
    double total = 0, sum = 0;
    for (std::int64_t key = 0; key < s.keys; ++key) {
      if (hidden.masked(s, i[0], i[2], key)) continue;
      const double w = weight(i, key);
      total += w;
      sum += w * v.at({i[0], s.key_head(i[1]), key, i[3]});
    }
    return total != 0 ? sum / total : 0.0;
  });
}

double product(const Sizes& s, const Plain& q, const Plain& k, const Index& i, std::int64_t key) {
  double sum = 0;
  for (std::int64_t d = 0; d < s.width; ++d)
    sum += q.at({i[0], i[1], i[2], d}) * k.at({i[0], s.key_head(i[1]), key, d});
  return sum;
}

/// Queries, keys and values, sometimes with one wrong size.
struct Operands {
  Plain q, k, v;

  bool fit(const Sizes& s) const {
    return q.shape[1] == s.heads && k.shape[0] == s.batch && k.shape[3] == s.width && v.shape[2] == s.keys;
  }
};

Operands operands(Choices& choices, const Sizes& s) {
  return {choices.numbers({s.batch, choices.below(16) == 1 ? s.heads + 1 : s.heads, s.queries, s.width}),
          choices.numbers({choices.mostly(s.batch), s.key_heads, s.keys, choices.mostly(s.width)}),
          choices.numbers({s.batch, s.key_heads, choices.mostly(s.keys), s.out})};
}

/// Adapts the sizes to an operand with one more head, which is valid if there is one key head.
Sizes with_heads_of(Sizes s, const Operands& o) {
  if (s.key_heads == 1) s.heads = o.q.shape[1];
  return s;
}

void try_softmax(Choices& choices) {
  Sizes s = sizes(choices);
  const Hiding hidden = hiding(choices, s);
  const Operands o = operands(choices, s);
  s = with_heads_of(s, o);
  AttentionOptions options = hidden.options();
  if (choices.below(4) == 1) options.scale = choices.within(-1, 2);
  const double scale = options.scale == 0 ? 1 / std::sqrt(static_cast<double>(s.width)) : options.scale;
  std::optional<Plain> want;
  if (o.fit(s) && hidden.fits(s) && scale > 0)
    want = weighted(s, hidden, o.v,
                    [&](const Index& i, std::int64_t key) { return std::exp(scale * product(s, o.q, o.k, i, key)); });
  check(
      "scaled_dot_product_attention", {o.q, o.k, o.v},
      [&](const auto& t) { return scaled_dot_product_attention(t[0], t[1], t[2], options); }, want);
}

void try_packed(Choices& choices) {
  Sizes s = sizes(choices);
  s.keys = s.queries;
  s.out = s.width;
  s.key_heads = s.heads;
  const Hiding hidden = hiding(choices, s);
  const bool wrong = choices.below(8) == 1;
  const Plain qkv = choices.numbers(wrong ? choices.shape() : Dimensions{s.batch, s.queries, 3 * s.heads * s.width});
  const std::int64_t heads = choices.below(16) == 1 ? choices.within(-1, 0) : s.heads;
  if (wrong && qkv.rank() == 3) return;  // it may be valid
  std::optional<Plain> want;
  if (!wrong && heads > 0 && hidden.fits(s)) {
    const auto part = [&](std::int64_t which) {
      return plain({s.batch, s.heads, s.queries, s.width},
                   [&](const Index& i) { return qkv.at({i[0], i[2], (which * s.heads + i[1]) * s.width + i[3]}); });
    };
    const Plain q = part(0), k = part(1), v = part(2);
    const double scale = 1 / std::sqrt(static_cast<double>(s.width));
    const Plain by_head = weighted(
        s, hidden, v, [&](const Index& i, std::int64_t key) { return std::exp(scale * product(s, q, k, i, key)); });
    want = plain({s.batch, s.queries, s.heads * s.width},
                 [&](const Index& i) { return by_head.at({i[0], i[2] / s.width, i[1], i[2] % s.width}); });
  }
  check("self_attention", {qkv}, [&](const auto& t) { return self_attention(t[0], heads, hidden.options()); }, want);
}

void try_linear(Choices& choices) {
  Sizes s = sizes(choices);
  const Hiding hidden = hiding(choices, s, false);
  Operands o = operands(choices, s);
  s = with_heads_of(s, o);
  const bool separable = choices.yes(), key_weighted = !separable && choices.yes();
  const Plain gain = choices.numbers({s.batch, s.key_heads, choices.mostly(s.keys)});
  if (!separable)  // kernel features are positive: sums of mixed signs would cancel and lose all digits
    for (Plain* features : {&o.q, &o.k})
      for (double& x : features->values) x = positive(x);
  std::optional<Plain> want;
  if (o.fit(s) && hidden.fits(s) && (!key_weighted || gain.shape[2] == s.keys)) {
    if (!separable) {
      want = weighted(s, hidden, o.v, [&](const Index& i, std::int64_t key) {
        return product(s, o.q, o.k, i, key) * (key_weighted ? std::exp(gain.at({i[0], s.key_head(i[1]), key})) : 1);
      });
    } else {
      want = plain({s.batch, s.heads, s.queries, s.out}, [](const Index&) { return 0.0; });
      for (std::int64_t f = 0; f < s.width; ++f) {
        const Plain part = weighted(s, hidden, o.v, [&](const Index& i, std::int64_t key) {
          return std::exp(o.k.at({i[0], s.key_head(i[1]), key, f}));
        });
        std::size_t element = 0;
        for_each(part.shape, [&](const Index& i) {
          want->values[element] += o.q.at({i[0], i[1], i[2], f}) * part.values[element];
          ++element;
        });
      }
    }
  }
  const LinearAttentionOptions options = {hidden.causal, hidden.options().key_padding};
  if (separable)
    return check(
        "separable_attention", {o.q, o.k, o.v},
        [&](const auto& t) { return separable_attention(t[0], t[1], t[2], options); }, want);
  std::vector<Plain> given = {o.q, o.k, o.v};
  if (key_weighted) given.push_back(gain);
  check(
      "linear_attention", given,
      [&](const auto& t) { return linear_attention(t[0], t[1], t[2], key_weighted ? t[3] : Tensor(), options); }, want);
}

void try_additive(Choices& choices) {
  Sizes s = sizes(choices);
  const Hiding hidden = hiding(choices, s);
  const Operands o = operands(choices, s);
  s = with_heads_of(s, o);
  const Plain w = choices.numbers({choices.mostly(s.heads), s.width});
  std::optional<Plain> want;
  if (o.q.shape[1] == s.heads && o.k.shape[0] == s.batch && o.k.shape[3] == s.width && w.shape[0] == s.heads &&
      hidden.fits(s))
    want = plain({s.batch, s.heads, s.queries, s.keys}, [&](const Index& i) {
      if (hidden.masked(s, i[0], i[2], i[3])) return 0.0;
      double sum = 0;
      for (std::int64_t d = 0; d < s.width; ++d)
        sum += w.at({i[1], d}) * std::tanh(o.q.at({i[0], i[1], i[2], d}) + o.k.at({i[0], s.key_head(i[1]), i[3], d}));
      return sum;
    });
  check(
      "additive_scores", {o.q, o.k, w},
      [&](const auto& t) { return additive_scores(t[0], t[1], t[2], hidden.options()); }, want);
}

void try_scores(Choices& choices) {
  Sizes s = sizes(choices);
  const Hiding hidden = hiding(choices, s);
  const Operands o = operands(choices, s);
  const Plain scores = choices.numbers({choices.mostly(s.batch), s.heads, s.queries, choices.mostly(s.keys)});
  s.keys = scores.shape[3];
  std::optional<Plain> want;
  if (scores.shape[0] == s.batch && o.v.shape[2] == s.keys && hidden.fits(s))
    want = weighted(s, hidden, o.v,
                    [&](const Index& i, std::int64_t key) { return std::exp(scores.at({i[0], i[1], i[2], key})); });
  check(
      "attention_from_scores", {scores, o.v},
      [&](const auto& t) { return attention_from_scores(t[0], t[1], hidden.options()); }, want);
}

void try_hard(Choices& choices) {
  Sizes s = sizes(choices);
  const Hiding hidden = hiding(choices, s);
  const Operands o = operands(choices, s);
  s = with_heads_of(s, o);
  std::optional<Plain> want;
  if (o.fit(s) && hidden.fits(s))
    want = plain({s.batch, s.heads, s.queries, s.out}, [&](const Index& i) {
      double best = 0, value = 0;
      bool any = false;
      for (std::int64_t key = 0; key < s.keys; ++key) {
        if (hidden.masked(s, i[0], i[2], key)) continue;
        const double score = product(s, o.q, o.k, i, key);
        if (any && score <= best) continue;
        any = true;
        best = score;
        value = o.v.at({i[0], s.key_head(i[1]), key, i[3]});
      }
      return value;
    });
  check(
      "hard_attention", {o.q, o.k, o.v},
      [&](const auto& t) { return hard_attention(t[0], t[1], t[2], hidden.options()); }, want);
}

void try_masks(Choices& choices) {
  const std::int64_t queries = choices.within(-1, 9), keys = choices.within(-1, 9);
  if (choices.yes()) {
    std::optional<Plain> want;
    if (queries >= 0 && keys >= 0)
      want = plain({queries, keys}, [&](const Index& i) { return i[1] > i[0] + keys - queries ? 1.0 : 0.0; });
    return check_plain("causal_mask", [&] { return plain_of(causal_mask(queries, keys)); }, want);
  }
  Plain lengths = choices.numbers(choices.below(8) == 1 ? choices.shape() : choices.shape_of(1));
  bool sound = lengths.rank() == 1 && keys >= 0;
  const bool wrong = choices.below(8) == 1;
  for (double& length : lengths.values) {
    length = std::fmod(std::floor((length + 2) * 8), static_cast<double>(std::max<std::int64_t>(keys, 0) + 1));
    if (wrong) length = static_cast<double>(choices.yes() ? -1 : keys + 1);
    sound = sound && !wrong;
  }
  std::optional<Plain> want;
  if (sound)
    want = plain({lengths.shape[0], keys}, [&](const Index& i) { return i[1] >= lengths.values[i[0]] ? 1.0 : 0.0; });
  check_plain(
      "padding_mask " + shape_text(lengths.shape), [&] { return plain_of(padding_mask(indices_of(lengths), keys)); },
      want);
}

}  // namespace

void try_attention(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_softmax, try_packed, try_linear, try_additive,
                                               try_scores,  try_hard,   try_masks};
  kOps[choices.below(7)](choices);
}

}  // namespace xtape::fuzz

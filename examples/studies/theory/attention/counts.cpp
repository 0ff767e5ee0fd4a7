// Counted operations and bytes: plain loops that count their multiply-adds, beside the formulas.
#include "groups.hpp"

namespace xtape::theory {

namespace {

/// Plain loops over one sequence; `count` is the number of multiply-adds so far.
struct Counting {
  double count = 0;

  /// x [n, i] times w [o, i] transposed.
  Array projected(const Array& x, const Array& w, std::size_t first, index_t rows) {
    Array out = Tensor::zeros({shape_of(x)[0], rows}).value();
    for (index_t n = 0; n < shape_of(x)[0]; ++n)
      for (index_t o = 0; o < rows; ++o)
        for (std::size_t i = 0; i < x.shape(1); ++i, ++count) out(n, o) += x(n, i) * w(first + o, i);
    return out;
  }

  /// Softmax attention of one head; columns of q, k, v begin at the given places. Adds into `out`.
  void softmax_head(const Array& q, const Array& k, const Array& v, std::size_t q0, std::size_t k0, std::size_t d,
                    bool causal, Array& out) {
    for (std::size_t i = 0; i < q.shape(0); ++i) {
      const std::size_t seen = causal ? i + 1 : k.shape(0);
      std::vector<double> weights(seen);
      double sum = 0;
      for (std::size_t j = 0; j < seen; ++j) {
        double score = 0;
        for (std::size_t c = 0; c < d; ++c, ++count) score += q(i, q0 + c) * k(j, k0 + c);
        sum += weights[j] = std::exp(score / std::sqrt(static_cast<double>(d)));
      }
      for (std::size_t j = 0; j < seen; ++j)
        for (std::size_t c = 0; c < d; ++c, ++count) out(i, q0 + c) += weights[j] / sum * v(j, k0 + c);
    }
  }

  /// Linear attention of one head, not causal, by features of the rows of q and k.
  template <class Features>
  void linear_head(const Array& q, const Array& k, const Array& v, std::size_t first, std::size_t d,
                   const Features& features, Array& out) {
    std::vector<std::vector<double>> sums;
    for (std::size_t j = 0; j < k.shape(0); ++j) {
      const std::vector<double> f = features(&k(j, first), d, count);
      sums.resize(f.size(), std::vector<double>(d + 1));
      for (std::size_t a = 0; a < f.size(); ++a)
        for (std::size_t c = 0; c <= d; ++c, ++count) sums[a][c] += f[a] * (c < d ? v(j, first + c) : 1);
    }
    for (std::size_t i = 0; i < q.shape(0); ++i) {
      const std::vector<double> f = features(&q(i, first), d, count);
      std::vector<double> mixed(d + 1);
      for (std::size_t a = 0; a < f.size(); ++a)
        for (std::size_t c = 0; c <= d; ++c, ++count) mixed[c] += f[a] * sums[a][c];
      for (std::size_t c = 0; c < d; ++c) out(i, first + c) = mixed[c] / mixed[d];
    }
  }
};

std::vector<double> elu_features(const real* x, std::size_t d, double&) {
  std::vector<double> out;
  for (std::size_t i = 0; i < d; ++i) out.push_back(x[i] > 0 ? x[i] + 1 : std::exp(x[i]));
  return out;
}

/// 1, sqrt2 x_i, x_i^2, sqrt2 x_i x_j of x scaled by d^(-1/4), so that products are scaled by 1/sqrt(d).
std::vector<double> quadratic_row(const real* x, std::size_t d, double& count) {
  const double scale = std::pow(static_cast<double>(d), -0.25);
  std::vector<double> out{1};
  for (std::size_t i = 0; i < d; ++i) out.push_back(std::sqrt(2) * scale * x[i]);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = i; j < d; ++j, ++count)
      out.push_back((i == j ? 1 : std::sqrt(2)) * scale * scale * x[i] * x[j]);
  return out;
}

/// Runs a layer of width 16 with 2 heads by plain loops: outputs agree, and so does the count.
void compare(Claim& claim, const std::string& name, bool causal) {
  const index_t n = 13, width = 16, heads = 2, d = 8;
  ParamStore store(41);
  const AttentionConfig config = attention_config(name, heads);
  const MultiHeadAttention layer(store.root(), {.width = width, .heads = heads, .attention = config, .bias = false});
  const std::size_t key_heads = name == "mqa" ? 1 : heads;
  const Array x = sample({n, width}, 42), &w = layer.in_proj_weight.value();
  Counting loops;
  const Array q = loops.projected(x, w, 0, heads * d), k = loops.projected(x, w, heads * d, key_heads * d);
  const Array v = loops.projected(x, w, (heads + key_heads) * d, key_heads * d);
  Array mixed = Tensor::zeros({n, width}).value();
  for (std::size_t h = 0; h < heads; ++h) {
    if (name == "elu") loops.linear_head(q, k, v, h * d, d, elu_features, mixed);
    else if (name == "quadratic") loops.linear_head(q, k, v, h * d, d, quadratic_row, mixed);
    else loops.softmax_head(q, k, v, h * d, key_heads == 1 ? 0 : h * d, d, causal, mixed);
  }
  const Array out = loops.projected(mixed, layer.out_proj.weight.value(), 0, width);
  const Array by_layer = reshape(layer(reshape(x, {1, n, width}), {.causal = causal}), {n, width}).value();
  const std::string what = name + (causal ? ", causal" : "");
  claim.near(what + ": plain loops and the layer, largest difference", 0, largest_difference(out, by_layer), 1e-12);
  const AttentionCost cost = layer.cost({.queries = n, .keys = n, .causal = causal});
  claim.equal(what + ": multiply-adds counted in the loops", cost.multiply_adds(), loops.count);
}

/// Multiply-adds of softmax self-attention by formula; compare() checks it against the counted loops.
double multiply_adds(index_t n, index_t width, index_t heads) {
  ParamStore store;
  const MultiHeadAttention layer(store.root(), {.width = width, .heads = heads});
  return layer.cost({.queries = n, .keys = n}).multiply_adds();
}

/// A3. Projections 4 n d^2 and scores 2 n^2 d (n_t = n_s = n): Theta(n d^2 + n^2 d).
void operations(Report& report) {
  Claim claim(report, {"A3", "Attention costs n d^2 for its projections and n^2 d for its scores.",
                       "4 n d^2 + 2 n^2 d multiply-adds in self-attention; equal parts at n = 2 d",
                       "counting; Vaswani et al. 2017, table 1"});
  for (const char* name : {"softmax", "mqa", "elu", "quadratic"}) compare(claim, name, false);
  compare(claim, "softmax", true);
  ParamStore store;
  const MultiHeadAttention layer(store.root(), {.width = 16, .heads = 2});
  const AttentionCost cost = layer.cost({.queries = 32, .keys = 32});
  claim.equal("n = 2 d: scores and mix beside projections", cost.projections, cost.attention);
  ParamStore other;
  const MultiHeadAttention stored(other.root(),
                                  {.width = 16, .heads = 2, .attention = attention_config("additive", 2)});
  claim.equal("stored weights: n_t n_s numbers a head", 2 * 7 * 9 * sizeof(real),
              stored.cost({.queries = 7, .keys = 9}).score_bytes);
  claim.near("counted exponent in n, n far above 2 d", 2,
             std::log2(multiply_adds(1 << 16, 16, 2) / multiply_adds(1 << 15, 16, 2)), 0.01);
  claim.wrong_statement("\"decoder self-attention N^2 k alone\": exponent in N at N = k/8", 2,
                        std::log2(multiply_adds(32, 256, 4) / multiply_adds(16, 256, 4)), 0.2,
                        "N^2 k + N k^2: linear while N is small");
  const double wider = multiply_adds(64, 4 * 64, 4) / multiply_adds(64, 4 * 32, 4);  // heads of width 64 and 32
  claim.wrong_statement("\"total h (n d + n^2)\": exponent in d of heads of width d, n = d", 1, std::log2(wider), 0.2,
                        "the total is h (n d^2 + n^2 d); that formula is of memory");
}

/// A13. Cached decoding equals the whole pass, and reads keys and values of all positions once.
void decoding(Report& report) {
  Claim claim(report, {"A13", "Cached decoding gives the whole pass's numbers and reads n keys and values a token.",
                       "cache 2 b n h' k numbers, h' key heads of width k = d/h; multi-query: an h-th",
                       "Shazeer 2019, sections 2.4 and 3"});
  for (const char* name : {"softmax", "gqa", "mqa"}) {
    ParamStore store(43);
    const TransformerLM model(
        store.root(),
        {.vocab = 11, .context = 128, .width = 32, .heads = 4, .layers = 2, .attention = attention_config(name, 4)});
    IndexArray ids = empty_array<IndexArray>({2, 128});
    Random random(44, "ids");
    for (auto& id : ids) id = random.below(11);
    const Array whole = model(ids).value();
    TransformerCache cache = model.cache(2);
    double worst = 0;
    for (std::size_t t = 0; t < 128; ++t) {
      IndexArray token = empty_array<IndexArray>({2, 1});
      token(0, 0) = ids(0, t), token(1, 0) = ids(1, t);
      const Tensor step = model.step(token, cache);
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t c = 0; c < 11; ++c) worst = std::max(worst, std::abs(step.value()(b, 0, c) - whole(b, t, c)));
    }
    claim.near(std::string(name) + ": token by token and whole, largest difference of logits", 0, worst, 1e-11);
    const double key_heads = std::string(name) == "softmax" ? 4 : std::string(name) == "gqa" ? 2 : 1;
    claim.equal(std::string(name) + ": bytes of the cache at 128 positions, 2 layers",
                2 * 2 * 2 * 128 * key_heads * 8 * sizeof(real), static_cast<double>(cache.bytes()));
  }
  ParamStore store(45);
  const MultiHeadAttention layer(store.root(), {.width = 8, .heads = 1});
  AttentionCache cache = layer.cache(1, 4096);
  const Tensor token = Tensor::ones({1, 1, 8});
  double copied = 0, by_concatenation = 0;
  for (index_t t = 0; t < 4096; ++t) {
    const index_t before = cache.keys()->capacity();
    layer.step(token, cache);
    if (cache.keys()->capacity() != before) copied += static_cast<double>(t);
    by_concatenation += static_cast<double>(t);
  }
  claim.at_most("rows copied while 4096 tokens are appended (capacity doubles)", 4096, copied);
  claim.equal("concatenation would copy n (n - 1)/2", 4096.0 * 4095 / 2, by_concatenation);
}

}  // namespace

void counts(Report& report) {
  operations(report);
  decoding(report);
}

}  // namespace xtape::theory

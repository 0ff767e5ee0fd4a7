// Attention as a matrix, and the kinds that do not form the matrix.
#include "groups.hpp"

namespace xtape::theory {

namespace {

/// D^-1 A V for A [n, n], D the row sums.
Array normalized_mix(const Array& a, const Array& v) {
  Array out = product(a, v);
  for (std::size_t i = 0; i < a.shape(0); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < a.shape(1); ++j) sum += a(i, j);
    for (std::size_t c = 0; c < v.shape(1); ++c) out(i, c) /= sum;
  }
  return out;
}

/// Entries f(q_i.k_j).
template <class F>
Array kernel_matrix(const Array& q, const Array& k, const F& f) {
  Array out = product(q, transpose(Tensor(k)).value());
  for (real& value : out) value = f(value);
  return out;
}

/// Pivots above 1e-10 in Gaussian elimination with complete pivoting.
double rank_of(Array m) {
  const index_t n = m.shape(0);
  index_t rank = 0;
  for (; rank < n; ++rank) {
    index_t r = rank, c = rank;
    for (index_t i = rank; i < n; ++i)
      for (index_t j = rank; j < n; ++j)
        if (std::abs(m(i, j)) > std::abs(m(r, c))) r = i, c = j;
    if (std::abs(m(r, c)) < 1e-10) break;
    for (index_t j = 0; j < n; ++j) std::swap(m(rank, j), m(r, j));
    for (index_t i = 0; i < n; ++i) std::swap(m(i, rank), m(i, c));
    for (index_t i = rank + 1; i < n; ++i) {
      const double factor = m(i, rank) / m(rank, rank);
      for (index_t j = rank; j < n; ++j) m(i, j) -= factor * m(rank, j);
    }
  }
  return static_cast<double>(rank);
}

/// A4. A_ij = exp(q_i.k_j), D = diag(A 1): softmax(Q K^T) V = D^-1 A V.
void as_matrix(Report& report) {
  Claim claim(report, {"A4", "Softmax attention is a normalized matrix of exponentials times the values.",
                       "softmax(Q K^T) V = D^-1 A V, A_ij = exp(q_i.k_j), D = diag(A 1)", "definition of softmax"});
  const Array q = sample({8, 8}, 51), k = sample({8, 8}, 52), v = sample({8, 5}, 53);
  const Array by_op = reshape(scaled_dot_product_attention(head(q), head(k), head(v), {.scale = 1}), {8, 5}).value();
  const Array by_matrix = normalized_mix(kernel_matrix(q, k, [](real s) { return std::exp(s); }), v);
  claim.near("the op and D^-1 A V, largest difference", 0, largest_difference(by_op, by_matrix), 1e-14);
  const Array elementwise = exp(Tensor(q) * Tensor(k)).value();
  claim.wrong_statement("\"A = exp(Q o K), elementwise\": largest difference", 0,
                        largest_difference(by_op, normalized_mix(elementwise, v)), 0,
                        "entries are exp(q_i.k_j), n x n");
}

/// A5. softmax_row(Q) softmax_col(K)^T V: rows sum to 1, rank at most d, and the column softmax sees the future.
void separable(Report& report) {
  Claim claim(report, {"A5", "Separable attention is linear in n, of rank at most d, and not causal as it stands.",
                       "softmax_row(Q) (softmax_col(K)^T V)", "Shen et al. 2021"});
  const index_t n = 24, d = 4;
  ParamStore first(54), second(54);
  const MultiHeadAttention layer(first.root(), {.width = d, .heads = 1, .attention = attention_config("separable", 1)});
  const MultiHeadAttention usual(second.root(), {.width = d, .heads = 1});
  const Tensor x = sample({1, n, d}, 55, -3, 3);
  const Array weights = reshape(layer.weights(x), {n, n}).value();
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = -1;
    for (std::size_t j = 0; j < n; ++j) sum += weights(i, j);
    worst = std::max(worst, std::abs(sum));
  }
  claim.near("rows of the implied matrix: largest |sum - 1|", 0, worst, 1e-12);
  claim.at_most("rank of the implied matrix, n = 24, d = 4", d, rank_of(weights));
  claim.at_least("rank of the softmax matrix of the same layer", 20,
                 rank_of(reshape(usual.weights(x), {n, n}).value()));
  const auto ratio = [&](index_t keys) { return layer.cost({.queries = keys, .keys = keys}).multiply_adds(); };
  claim.near("counted exponent in n", 1, std::log2(ratio(4096) / ratio(2048)), 1e-9);

  // Masking the matrix afterwards does not make it causal: its entries hold sums over all keys.
  const auto masked_after = [&](const Tensor& keys) {
    const Tensor matrix = matmul(softmax(Tensor(sample({n, d}, 56))), softmax(keys, 0), {.transpose_b = true});
    const Tensor visible = masked_fill(matrix, causal_mask(n, n), 0);
    return slice(visible / sum(visible, {1}, true), 0, 1, 2);  // what position 1 mixes by
  };
  const Array future = jacobian(masked_after, sample({n, d}, 57));
  double leak = 0;
  for (std::size_t o = 0; o < future.shape(0); ++o)
    for (std::size_t i = 2 * d; i < future.shape(1); ++i) leak = std::max(leak, std::abs(future(o, i)));
  claim.at_least("masked after the column softmax: gradient of position 1 to later keys", 1e-6, leak);
  const auto causal_row = [&](const Tensor& in) { return slice(layer(in, {.causal = true}), 1, 1, 2); };
  const Array seen = jacobian(causal_row, x.value());
  double inside = 0;
  for (std::size_t o = 0; o < seen.shape(0); ++o)
    for (std::size_t i = 2 * d; i < seen.shape(1); ++i) inside = std::max(inside, std::abs(seen(o, i)));
  claim.equal("column softmax over the keys seen so far (the layer): the same", 0, inside);
}

/// phi(q) without the products x_i x_j of different elements.
double without_cross_terms(const Array& q, const Array& k) {
  double sum = 1;
  for (std::size_t i = 0; i < q.size(); ++i) sum += 2 * q(i) * k(i) + q(i) * q(i) * k(i) * k(i);
  return sum;
}

/// n at which quadratic softmax and kernel attention of one head of width d cost the same multiply-adds.
double crossing(index_t d) {
  ParamStore store;
  const MultiHeadAttention exact(store.root() / "a", {.width = d, .heads = 1});
  const MultiHeadAttention kernel(store.root() / "b",
                                  {.width = d, .heads = 1, .attention = attention_config("quadratic", 1)});
  index_t n = 1;
  while (exact.cost({.queries = n, .keys = n}).attention < kernel.cost({.queries = n, .keys = n}).attention) ++n;
  return static_cast<double>(n);
}

/// A6. V'_i = phi(q_i)^T sum_j phi(k_j) v_j^T / phi(q_i)^T sum_j phi(k_j); phi of (q.k+1)^2 has (D+1)(D+2)/2 terms.
void kernels_by_features(Report& report) {
  Claim claim(report,
              {"A6", "Kernel attention by features is linear in n; for (q.k+1)^2 there are (D+1)(D+2)/2 of them.",
               "phi = [1, sqrt2 x_i, x_i^2, sqrt2 x_i x_j (i<j)]; faster than n^2 from n about C on",
               "Katharopoulos et al. 2020, section 3.2.1"});
  const index_t n = 20, d = 6;
  const Array q = sample({n, d}, 58), k = sample({n, d}, 59), v = sample({n, 5}, 60);
  const AttentionConfig config{
      .kind = AttentionKind::quadratic, .key_heads = 1, .head_width = d, .value_width = 5, .scale = 1};
  const Array linear = reshape(attend(config, head(q), head(k), head(v), {}), {n, 5}).value();
  const Array square = normalized_mix(kernel_matrix(q, k, [](real s) { return (s + 1) * (s + 1); }), v);
  claim.near("linear form and n x n form, largest difference", 0, largest_difference(linear, square), 1e-12);
  claim.equal("features for D = 6: (D+1)(D+2)/2", 28, static_cast<double>(quadratic_features(Tensor(q)).size(-1)));
  const Array a = sample({d}, 61), b = sample({d}, 62);
  const double exact = std::pow(dot(Tensor(a), Tensor(b)).item() + 1, 2);
  claim.wrong_statement("\"phi = [1, sqrt2 x_i, x_i^2]\": phi(a).phi(b) beside (a.b + 1)^2", without_cross_terms(a, b),
                        exact, 1e-6, "the cross terms sqrt2 x_i x_j belong to it");
  const auto features = [](double x) { return quadratic_features(Tensor(matrix(1, {x}))); };
  const double weight = sum(features(1) * features(-1)).item();
  claim.near("q.k = -1: the weight phi(q).phi(k)", 0, weight, 1e-15);
  claim.remark(
      "There the n x n form divides 0 by 0, and the linear one rounding by rounding: one strict sign of sim for "
      "all pairs suffices for a finite result, and (q.k + 1)^2 has it only while no q.k is -1.");
  Curve found{"counted", {}, {}, false, true}, law{"D^2/2", {}, {}, true}, count{"C = (D+1)(D+2)/2", {}, {}, true};
  for (index_t width : {8, 16, 32, 64, 128}) {
    const auto size = static_cast<double>(width);
    found.x.push_back(size), found.y.push_back(crossing(width));
    law.x.push_back(size), law.y.push_back(size * size / 2);
    count.x.push_back(size), count.y.push_back((size + 1) * (size + 2) / 2);
  }
  claim.factor("crossing by counted operations beside C, D = 64", count.y[3], found.y[3], 1.5);
  claim.factor("beside D^2/2, D = 128", law.y.back(), found.y.back(), 1.5);
  claim.plot({"Where the features pay", "head width D", "keys n of equal cost", true, true, {law, count, found}});
}

}  // namespace

void linear_kinds(Report& report) {
  as_matrix(report);
  separable(report);
  kernels_by_features(report);
}

}  // namespace xtape::theory

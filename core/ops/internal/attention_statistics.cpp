#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/unary.hpp>
#include <xtape/core/ops/internal/attention_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::AttentionProblem;

/// Sums over the queries of one head.
struct Totals {
  double entropy = 0, share = 0;
  index_t rows = 0, shared_rows = 0;
  double largest = -std::numeric_limits<double>::infinity();
};

/// `scores` [T, S] of one sequence and head; `weights` is scratch of the same size.
void add(const AttentionProblem& p, index_t b, const kernels::SoftmaxRow* sums, const real* scores, real* weights,
         Totals& totals) {
  for (index_t t = 0; t < p.queries; ++t)
    kernels::affine(scores + t * p.keys, 1, -sums[t].shift, weights + t * p.keys, p.keys);
  kernels::unary(kernels::Unary::exp, weights, weights, p.queries * p.keys);
  for (index_t t = 0; t < p.queries; ++t) {
    index_t visible = 0;
    const double shift = sums[t].shift, inverse = sums[t].inverse, log_inverse = std::log(inverse);
    double entropy = 0;  // - sum w ln w, with ln w = (score - shift) + ln inverse
    for (index_t s = 0; s < p.causal_limit(t); ++s) {
      if (p.masked(b, t, s)) continue;
      const auto score = static_cast<double>(scores[t * p.keys + s]);
      const double weight = static_cast<double>(weights[t * p.keys + s]) * inverse;
      if (weight != 0) entropy -= weight * ((score - shift) + log_inverse);
      if (!(score <= totals.largest)) totals.largest = score;  // keeps a NaN
      ++visible;
    }
    if (visible > 0) totals.entropy += entropy, ++totals.rows;
    if (visible > 1) totals.share += entropy / std::log(static_cast<double>(visible)), ++totals.shared_rows;
  }
}

}  // namespace

AttentionSummary summary_of(const AttentionProblem& p, const kernels::SoftmaxRow* sums) {
  const index_t sequences = std::min(p.batches, kSummarySequences);
  std::vector<real> scores(p.queries * p.keys), weights(scores.size());
  AttentionSummary out;
  for (index_t h = 0; h < p.heads; ++h) {
    Totals totals;
    for (index_t b = 0; b < sequences; ++b) {
      kernels::gemm({p.queries, p.keys, p.width}, {p.q.at(b, h), p.q.row}, {p.k.at(b, h / p.group()), p.k.row, true},
                    {scores.data(), p.keys}, {.alpha = p.scale});
      add(p, b, sums + (b * p.heads + h) * p.queries, scores.data(), weights.data(), totals);
    }
    const auto mean = [](double sum, index_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; };
    out.entropy.push_back(mean(totals.entropy, totals.rows));
    out.entropy_share.push_back(mean(totals.share, totals.shared_rows));
    out.largest_logit.push_back(totals.largest);
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

// What softmax attention does with a block of scores between its two products. Rows are padded to a multiple of kLanes,
// so that no loop has a remainder: columns that a row does not attend to hold minus infinity.
#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>

/// Writes minus infinity past the first `visible` columns, up to the next multiple of kLanes, and returns that
/// multiple.
index_t pad_row(real* row, index_t visible) {
  const index_t begin = visible / kLanes * kLanes;
  if (begin == visible) return visible;
  const Lanes last = load(row + begin);
  store(row + begin, lane_numbers() < static_cast<LaneIndex>(visible - begin) ? last : kMinusInfinity - Lanes{});
  return begin + kLanes;
}

void zero(real* x, index_t begin, index_t end) {
  for (index_t i = begin; i < end; i += kLanes) store(x + i, Lanes{});
}

/// exp(row - shift) in place; prefetches the next row, which is `stride` further.
void exponentials(real* row, index_t stride, real shift, index_t padded) {
  for (index_t first = 0; first < padded; first += kBlock) {
    for (index_t i = first; i < first + kBlock; i += kLanes) __builtin_prefetch(row + stride + i);
    const index_t end = padded - first < kBlock ? padded : first + kBlock;
#pragma GCC ivdep
    for (index_t i = first; i < end; ++i) row[i] = exp_of_nonpositive(row[i] - shift);
  }
}

void weights(const ScoreRows& s, real* scores, const real* factors, SoftmaxRow* sums, real* inverses) {
  for (index_t r = 0; r < s.rows; ++r) {
    real* row = scores + r * s.stride;
    const index_t padded = pad_row(row, s.visible(r));
    const real most = largest(row, padded), shift = most == kMinusInfinity ? 0 : most;
    exponentials(row, s.stride, shift, padded);
    const real total = static_cast<real>(sum(row, padded));
    inverses[r] = total == 0 ? 0 : 1 / total;
    sums[r] = {shift, inverses[r]};
    if (factors) {
      const real* factor = factors + r * s.stride;
      for (index_t i = 0; i < padded; i += kLanes) store(row + i, load(row + i) * load(factor + i));
    }
    zero(row, padded, s.width());
  }
}

/// Where a weight is exactly 0 the gradient is 0, whatever the upstream gradient and the other weights hold. Halved, as
/// a difference of large gradients overflows.
template <bool dropout>
void score_gradient_row(real* row, real* gradient, const real* factor, SoftmaxRow sums, real mean, real scale,
                        index_t padded) {
  const real half_mean = real(0.5) * mean, factor_of_e = 2 * (scale * sums.inverse);
#pragma GCC ivdep
  for (index_t i = 0; i < padded; ++i) {
    const real e = exp_of_nonpositive(row[i] - sums.shift);
    real weight = e * sums.inverse, up = gradient[i];
    if constexpr (dropout) {
      up = factor[i] == 0 ? 0 : factor[i] * up;
      weight *= factor[i];
    }
    const real product = e * factor_of_e * (real(0.5) * up - half_mean);
    row[i] = e == 0 ? 0 : weight;
    gradient[i] = e == 0 ? 0 : product;
  }
}

void score_gradients(const ScoreRows& s, real* scores, const real* factors, const SoftmaxRow* sums, const real* means,
                     real scale, real* gradients) {
  for (index_t r = 0; r < s.rows; ++r) {
    real* row = scores + r * s.stride;
    real* to = gradients + r * s.stride;
    const index_t padded = pad_row(row, s.visible(r));
    if (factors) score_gradient_row<true>(row, to, factors + r * s.stride, sums[r], means[r], scale, padded);
    else score_gradient_row<false>(row, to, nullptr, sums[r], means[r], scale, padded);
    zero(row, padded, s.width());
    zero(to, padded, s.width());
  }
}

void row_dots(const real* a, index_t stride_a, const real* b, index_t stride_b, index_t rows, index_t width,
              real* out) {
  for (index_t r = 0; r < rows; ++r, a += stride_a, b += stride_b)
    out[r] = static_cast<real>(
        sum_of(width, [=](index_t i) { return load(a + i) * load(b + i); }, [=](index_t i) { return a[i] * b[i]; }));
}

void scale_rows(real* x, index_t stride, const real* scales, index_t rows, index_t width) {
  for (index_t r = 0; r < rows; ++r) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) x[r * stride + i] *= scales[r];
  }
}

bool rows_finite(const real* x, index_t stride, index_t rows, index_t width) {
  Lanes sum = {};  // 0 * infinity and 0 * NaN are NaN
  real rest = 0;
  for (index_t r = 0; r < rows; ++r, x += stride) {
    index_t i = 0;
    for (; i + kLanes <= width; i += kLanes) sum += 0 * load(x + i);
    for (; i < width; ++i) rest += 0 * x[i];
  }
  return lane_sum(sum) + static_cast<double>(rest) == 0;
}

}  // namespace

const AttentionTable attention_table = {kLanes, weights, score_gradients, row_dots, scale_rows, rows_finite};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

/// The largest element, or 0 for a row of minus infinities, which has no finite element to subtract.
real safe_shift(real most) { return most == kMinusInfinity ? 0 : most; }

double sum(const real* x, index_t n) {
  return sum_of(n, [x](index_t i) { return load(x + i); }, [x](index_t i) { return x[i]; });
}

double dot(const real* x, const real* y, index_t n) {
  return sum_of(n, [x, y](index_t i) { return load(x + i) * load(y + i); }, [x, y](index_t i) { return x[i] * y[i]; });
}

/// y = exp(x - max) / sum; a row of minus infinities gives zeros. Returns log(sum(exp(x))).
real softmax(const real* x, real* y, index_t n) {
  const real shift = safe_shift(largest(x, n));
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) y[i] = exponential(x[i] - shift);
  const double total = sum(y, n);
  const real scale = static_cast<real>(total == 0 ? 0 : 1 / total);
  for (index_t i = 0; i < n; ++i) y[i] *= scale;
  return static_cast<real>(static_cast<double>(shift) + __builtin_log(total));
}

/// For a row with an infinite element: infinity, or NaN if it has a NaN.
double sum_of_positive(const real* x, index_t n) {
  return sum_of(
      n, [x](index_t i) { return load(x + i) <= 0 ? Lanes{} : load(x + i); },
      [x](index_t i) { return x[i] <= 0 ? 0 : x[i]; });
}

/// Minus infinity for a row of minus infinities and for n = 0, infinity if one element is. Prefetches the next row.
double log_sum_exp(const real* x, index_t n) {
  const real most = largest(x, n), shift = safe_shift(most);
  if (most == -kMinusInfinity) return sum_of_positive(x, n);
  real e[kBlock];
  double total = 0;
  for (index_t begin = 0; begin < n; begin += kBlock) {
    const index_t count = n - begin < kBlock ? n - begin : kBlock;
    for (index_t i = begin; i < begin + count; i += kLanes) __builtin_prefetch(x + n + i);
#pragma GCC ivdep
    for (index_t i = 0; i < count; ++i) e[i] = exp_of_nonpositive(x[begin + i] - shift);
    total += sum(e, count);
  }
  return static_cast<double>(shift) + __builtin_log(total);
}

/// dx = y (dy - sum(y dy)): the Jacobian diag(y) - y y^T.
void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t n) {
  const real mean = static_cast<real>(dot(y, dy, n));
  store_each(dx, accumulate, n, [=](index_t i) { return y[i] * (dy[i] - mean); });
}

/// y = log softmax: dx = dy - exp(y) sum(dy).
void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t n) {
  const real total = static_cast<real>(sum(dy, n));
  store_each(dx, accumulate, n, [=](index_t i) { return dy[i] - exponential(y[i]) * total; });
}

void scaled_exp(const real* x, double shift, real scale, real offset, real* y, bool accumulate, index_t n) {
  const Split s = finite_split(shift);
  store_each(y, accumulate, n, [=](index_t i) { return scale * exponential((x[i] - s.high) - s.low) + offset; });
}

}  // namespace

extern const SoftmaxTable softmax_table;
const SoftmaxTable softmax_table = {largest, softmax, softmax_backward, log_softmax_backward, log_sum_exp, scaled_exp};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

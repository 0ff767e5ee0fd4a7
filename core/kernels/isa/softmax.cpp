#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

/// The largest element, or 0 for a row of minus infinities, which has no finite element to subtract.
real safe_shift(real most) { return most == kMinusInfinity ? 0 : most; }

/// y = exp(x - max) / sum; a row of minus infinities gives zeros.
void softmax(const real* x, real* y, index_t n) {
  const real shift = safe_shift(largest(x, n));
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) y[i] = exponential(x[i] - shift);
  const double total = sum(y, n);
  const real scale = static_cast<real>(total == 0 ? 0 : 1 / total);
  for (index_t i = 0; i < n; ++i) y[i] *= scale;
}

/// For a row with an infinite element: infinity, or NaN if it has a NaN.
double sum_of_positive(const real* x, index_t n) {
  return sum_of(
      n, [x](index_t i) { return load(x + i) <= 0 ? Lanes{} : load(x + i); },
      [x](index_t i) { return x[i] <= 0 ? 0 : x[i]; });
}

/// A total of 0 for a row of minus infinities and for n = 0, an infinite shift if an element is infinite. Prefetches
/// the next row.
LogSum log_sum_exp(const real* x, index_t n) {
  const real most = largest(x, n), shift = safe_shift(most);
  if (most == -kMinusInfinity) return {shift, sum_of_positive(x, n) > 0 ? 1 : __builtin_nan("")};
  real e[kBlock];
  double total = 0;
  for (index_t begin = 0; begin < n; begin += kBlock) {
    const index_t count = n - begin < kBlock ? n - begin : kBlock;
    for (index_t i = begin; i < begin + count; i += kLanes) __builtin_prefetch(x + n + i);
#pragma GCC ivdep
    for (index_t i = 0; i < count; ++i) e[i] = exp_of_nonpositive(x[begin + i] - shift);
    total += sum(e, count);
  }
  return {shift, total};
}

void log_softmax(const real* x, LogSum log_sum, real* y, index_t n) {
  const real shift = log_sum.shift, rest = static_cast<real>(__builtin_log(log_sum.total));
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) y[i] = (x[i] - shift) - rest;
}

/// dx = y (dy - sum(y dy)): the Jacobian diag(y) - y y^T. Where y is 0 the gradient is 0 and dy is not read. Halved,
/// as a difference of large gradients overflows.
void softmax_backward(const real* y, const real* dy, Output dx, index_t n) {
  const double mean = sum_of(
      n,
      [=](index_t i) {
        const Lanes term = load(y + i) * load(dy + i);
        return load(y + i) == 0 ? Lanes{} : term;
      },
      [=](index_t i) { return y[i] == 0 ? 0 : y[i] * dy[i]; });
  const real half_mean = real(0.5) * static_cast<real>(mean);
  store_each(dx, n, [=](index_t i) {
    const real gradient = 2 * y[i] * (real(0.5) * dy[i] - half_mean);
    return y[i] == 0 ? 0 : gradient;
  });
}

/// y = log softmax: dx = dy - exp(y) sum(dy).
void log_softmax_backward(const real* y, const real* dy, Output dx, index_t n) {
  const real total = static_cast<real>(sum(dy, n));
  if (total - total == 0) return store_each(dx, n, [=](index_t i) { return dy[i] - exponential(y[i]) * total; });
  constexpr real down = 0x1p-64, up = 0x1p64;  // the sum is infinite, or it has left the range
  const real small = static_cast<real>(
      sum_of(n, [dy](index_t i) { return down * load(dy + i); }, [dy](index_t i) { return down * dy[i]; }));
  store_each(dx, n, [=](index_t i) { return up * (down * dy[i] - exponential(y[i]) * small); });
}

/// Where the exponential is 0, so is its product with any scale.
void scaled_exp(const real* x, real shift, real scale, real offset, Output y, index_t n) {
  if (scale - scale == 0)  // a finite scale needs no selection
    return store_each(y, n, [=](index_t i) { return scale * exp_of_nonpositive(x[i] - shift) + offset; });
  store_each(y, n, [=](index_t i) {
    const real e = exp_of_nonpositive(x[i] - shift), term = scale * e;
    return (e == 0 ? 0 : term) + offset;
  });
}

}  // namespace

const SoftmaxTable softmax_table = {largest,     softmax,   softmax_backward, log_softmax, log_softmax_backward,
                                    log_sum_exp, scaled_exp};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

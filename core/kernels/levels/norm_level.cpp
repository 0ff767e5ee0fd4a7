#include <xtape/core/kernels/levels/levels.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL {
namespace {

#include <xtape/core/kernels/levels/lanes.hpp>
#include <xtape/core/kernels/levels/math.hpp>

/// y = (x - mean) / sqrt(variance + eps) * gain + bias over one row (Ba, Kiros, Hinton 2016), biased variance, two
/// passes. With a null mean nothing is subtracted: x / sqrt(mean(x^2) + eps) * gain (Zhang, Sennrich 2019). gain and
/// bias may be null.
void layer_norm(const real* x, const real* gain, const real* bias, real eps, real* y, double* mean, real* inverse,
                index_t width) {
  if (mean) {
    const double sum = sum_of(
        width, [x](index_t i) { return load(x + i); }, [x](index_t i) { return x[i]; });
    *mean = sum / static_cast<double>(width);
  }
  const Split c = mean ? split(*mean) : Split{0, 0};
  const double squares = sum_of(
      width,
      [=](index_t i) {
        const Lanes d = (load(x + i) - c.high) - c.low;
        return d * d;
      },
      [=](index_t i) {
        const real d = (x[i] - c.high) - c.low;
        return d * d;
      });
  const real r = static_cast<real>(1 / __builtin_sqrt(squares / static_cast<double>(width) + static_cast<double>(eps)));
  *inverse = r;
  if (gain && bias) {  // the usual case, in one pass
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] = ((x[i] - c.high) - c.low) * r * gain[i] + bias[i];
    return;
  }
#pragma GCC ivdep
  for (index_t i = 0; i < width; ++i) y[i] = ((x[i] - c.high) - c.low) * r;
  if (gain) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] *= gain[i];
  }
  if (bias) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] += bias[i];
  }
}

/// With n = (x - mean) inverse and g = gain dy: dx = inverse (g - mean(g) - n mean(g n)); without a mean the middle
/// term is absent.
void layer_norm_backward(const real* x, const real* gain, const double* mean, real inverse, const real* dy, real* dx,
                         bool accumulate, index_t width) {
  const Split c = mean ? split(*mean) : Split{0, 0};
  const auto normal = [=](index_t i) { return ((load(x + i) - c.high) - c.low) * inverse; };
  const auto normal1 = [=](index_t i) { return ((x[i] - c.high) - c.low) * inverse; };
  const auto g = [=](index_t i) { return gain ? load(dy + i) * load(gain + i) : load(dy + i); };
  const auto g1 = [=](index_t i) { return gain ? dy[i] * gain[i] : dy[i]; };
  const double n = static_cast<double>(width);
  const real mean_g = mean ? static_cast<real>(sum_of(width, g, g1) / n) : 0;
  const real mean_gn = static_cast<real>(
      sum_of(
          width, [&](index_t i) { return g(i) * normal(i); }, [&](index_t i) { return g1(i) * normal1(i); }) /
      n);
  if (accumulate) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) dx[i] += inverse * (g1(i) - mean_g - normal1(i) * mean_gn);
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) dx[i] = inverse * (g1(i) - mean_g - normal1(i) * mean_gn);
  }
}

/// Sums over a block of rows: dgain = sum dy n, dbias = sum dy; both overwritten, either may be null.
void layer_norm_gain(const real* x, const double* mean, const real* inverse, const real* dy, index_t rows,
                     index_t width, real* dgain, real* dbias) {
  for (index_t i = 0; dgain && i < width; ++i) dgain[i] = 0;
  for (index_t i = 0; dbias && i < width; ++i) dbias[i] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const Split c = mean ? split(mean[r]) : Split{0, 0};
    const real scale = inverse[r];
    const real* row = x + r * width;
    const real* up = dy + r * width;
    if (dgain) {
#pragma GCC ivdep
      for (index_t i = 0; i < width; ++i) dgain[i] += up[i] * (((row[i] - c.high) - c.low) * scale);
    }
    if (dbias) {
#pragma GCC ivdep
      for (index_t i = 0; i < width; ++i) dbias[i] += up[i];
    }
  }
}

}  // namespace

extern const NormTable norm;
const NormTable norm = {layer_norm, layer_norm_backward, layer_norm_gain};

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL

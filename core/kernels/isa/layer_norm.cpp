#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

/// y = (x - mean) / sqrt(variance + eps) * weight + bias over one row (Ba, Kiros, Hinton 2016), with the biased
/// variance in a second pass. With a null mean nothing is subtracted: x / sqrt(mean(x^2) + eps) * weight (Zhang,
/// Sennrich 2019). weight and bias may be null. x[0] is subtracted before the sum, so that equal elements give 0.
bool layer_norm(const NormInput& in, index_t row, real* y, double* mean, real* inverse_std) {
  const index_t width = in.width;
  const real *x = in.x + row * width, *weight = in.weight, *bias = in.bias;
  Split near{0, 0};  // almost the mean, and known sooner
  if (mean) {
    const real pivot = x[0];
    const double offset = sum_of_differences(x, pivot, width) / static_cast<double>(width);
    *mean = static_cast<double>(pivot) + offset;
    near = {pivot, static_cast<real>(offset)};
  }
  const Split c = mean ? split(*mean) : near;
  const double squares = sum_of_squared_differences(x, near.high, near.low, width);
  const double variance = squares / static_cast<double>(width) + in.eps;
  if (!trusted_variance(variance)) return false;
  const real r = static_cast<real>(1 / __builtin_sqrt(variance));
  *inverse_std = r;
  if (weight && bias) {  // the usual case, in one pass
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] = ((x[i] - c.high) - c.low) * r * weight[i] + bias[i];
    return true;
  }
#pragma GCC ivdep
  for (index_t i = 0; i < width; ++i) y[i] = ((x[i] - c.high) - c.low) * r;
  if (weight) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] *= weight[i];
  }
  if (bias) {
#pragma GCC ivdep
    for (index_t i = 0; i < width; ++i) y[i] += bias[i];
  }
  return true;
}

/// One row of dx, and what it adds to dweight and dbias; kernels/layer_norm.hpp has the formulas.
struct RowBackward {
  const real* x;
  const real* weight;
  const real* dy;
  Split mean;
  real inverse_std;
  index_t width;

  // x_hat is the normalized input, g = dL/dx_hat; the plural gives a vector of them.
  Lanes x_hats(index_t i) const { return ((load(x + i) - mean.high) - mean.low) * inverse_std; }
  real x_hat(index_t i) const { return ((x[i] - mean.high) - mean.low) * inverse_std; }
  Lanes gs(index_t i) const { return weight ? load(dy + i) * load(weight + i) : load(dy + i); }
  real g(index_t i) const { return weight ? dy[i] * weight[i] : dy[i]; }

  /// Returns false, with dx unchanged, if the gradients are so large that their differences may overflow.
  bool input(bool subtract_mean, Output dx) const {
    const RowBackward row = *this;  // a local copy stays in registers: the stores below cannot alias it
    const double n = static_cast<double>(width);
    const auto sum_of_g = [=] {
      return sum_of(row.width, [=](index_t i) { return row.gs(i); }, [=](index_t i) { return row.g(i); });
    };
    const double product = sum_of(
        width, [=](index_t i) { return row.gs(i) * row.x_hats(i); },
        [=](index_t i) { return row.g(i) * row.x_hat(i); });
    const double first = subtract_mean ? sum_of_g() / n : 0, second = product / n;
    if (!(__builtin_fabs(first) + __builtin_fabs(second) <= kLargestMean)) return false;
    const real mean_g = static_cast<real>(first), mean_gn = static_cast<real>(second);
    const auto term = [=](index_t i) { return row.inverse_std * (row.g(i) - mean_g - row.x_hat(i) * mean_gn); };
    store_each(dx, row.width, term);
    return true;
  }

  void add_to_weight(real* dweight) const {
    const RowBackward row = *this;
#pragma GCC ivdep
    for (index_t i = 0; i < row.width; ++i) dweight[i] += row.dy[i] * row.x_hat(i);
  }

  void add_to_bias(real* dbias) const {
    const RowBackward row = *this;
#pragma GCC ivdep
    for (index_t i = 0; i < row.width; ++i) dbias[i] += row.dy[i];
  }
};

index_t layer_norm_backward(const NormRows& in, Output dx, real* dweight, real* dbias) {
  for (index_t r = 0; r < in.rows; ++r) {
    const index_t at = r * in.width;
    const Split mean = in.mean ? split(in.mean[r]) : Split{0, 0};
    const RowBackward row{in.x + at, in.weight, in.dy + at, mean, in.inverse_std[r], in.width};
    if (row.inverse_std == 0 || (dx.data && !row.input(in.mean, dx.at(at)))) return r;
    if (dweight) row.add_to_weight(dweight);
    if (dbias) row.add_to_bias(dbias);
  }
  return in.rows;
}

}  // namespace

const LayerNormTable layer_norm_table = {layer_norm, layer_norm_backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

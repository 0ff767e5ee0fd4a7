#include <xtape/core/error.hpp>
#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/ops/batch_norm.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/norm_checks.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

void check_channels(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (x.rank() != 2 && x.rank() != 3) throw ShapeError(op, "x [B, C] or [B, T, C]", x.shape());
  check_norm_arguments(op, x, weight, bias, eps);
}

/// The normalized input, recorded. With `fixed` statistics no gradient flows through them.
Tensor normalized_channels(const char* op, bool fixed, const Tensor& x, Doubles mean, Doubles divisor,
                           const Tensor& weight, const Tensor& bias) {
  const index_t columns = x.size(-1), rows = x.numel() / columns;
  Array y = empty_array(x.shape());
  const kernels::NormColumns in{x.data(), rows, columns, mean.data(), divisor.data()};
  kernels::batch_norm(in, data_or_null(weight), data_or_null(bias), y.data());
  const auto add = [columns](Grads& g, index_t input, const Doubles& sums) {
    if (!g.needs(input)) return;
    const Output to = g.buffer(input);
    for (index_t c = 0; c < columns; ++c) to.put(c, sums[c]);
  };
  // The backward function keeps what its `in` points into.
  return Tape::record(op, {x, weight, bias}, Tensor(std::move(y)),
                      [in, fixed, add, x = x.detach(), weight = weight.detach(), mean = std::move(mean),
                       divisor = std::move(divisor)](const Array& dy, Grads& g) {
                        Doubles dy_sums(mean.size()), dy_x_hat_sums(mean.size());
                        const kernels::ColumnSums sums{dy_sums.data(), dy_x_hat_sums.data()};
                        if (!fixed || g.needs(1) || g.needs(2)) kernels::batch_norm_sums(in, dy.data(), sums);
                        if (g.needs(0))
                          kernels::batch_norm_backward(in, data_or_null(weight), dy.data(),
                                                       fixed ? kernels::ColumnSums{} : sums, g.buffer(0));
                        add(g, 1, dy_x_hat_sums);
                        add(g, 2, dy_sums);
                      });
}

Array as_array(const Doubles& values, double factor) {
  Array out = empty_array({std::ssize(values)});
  for (std::size_t i = 0; i < values.size(); ++i) out.data()[i] = static_cast<real>(factor * values[i]);
  return out;
}

}  // namespace

BatchNormOutput batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_channels("batch_norm", x, weight, bias, eps);
  const index_t columns = x.size(-1), rows = x.numel() / columns;
  if (rows < 2) throw ValueError("batch_norm", "more than one value in each channel in training", x.shape());
  Doubles mean(columns), variance(mean), divisor(mean);
  kernels::column_moments(x.data(), eps, mean.data(), variance.data(), divisor.data(), rows, columns);
  const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
  BatchNormOutput out{{}, as_array(mean, 1), as_array(variance, unbiased)};
  out.y = normalized_channels("batch_norm", false, x, std::move(mean), std::move(divisor), weight, bias);
  return out;
}

Tensor batch_norm_eval(const Tensor& x, const Array& mean, const Array& variance, const Tensor& weight,
                       const Tensor& bias, double eps) {
  check_channels("batch_norm_eval", x, weight, bias, eps);
  for (const Array* statistic : {&mean, &variance})
    check_shape("batch_norm_eval", "mean and variance", statistic->shape(), Shape{x.size(-1)});
  for (real v : variance)
    if (!(v >= 0)) throw ValueError("batch_norm_eval", "a variance of at least 0", v);
  Doubles divisor(variance.begin(), variance.end());
  for (double& v : divisor) v = std::sqrt(v + eps);
  return normalized_channels("batch_norm_eval", true, x, Doubles(mean.begin(), mean.end()), std::move(divisor), weight,
                             bias);
}

}  // namespace xtape::inline XTAPE_DTYPE

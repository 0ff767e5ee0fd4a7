#include <xtape/core/error.hpp>
#include <xtape/core/kernels/layer_norm.hpp>
#include <xtape/core/ops/internal/norm_checks.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/layer_norm.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Layer norm, or RMS norm without `subtract_mean`.
Tensor normalized_rows(const char* op, bool subtract_mean, const Tensor& x, const Tensor& weight, const Tensor& bias,
                       double eps) {
  check_norm_arguments(op, x, weight, bias, eps);
  const index_t width = x.size(-1), rows = x.numel() / width;
  Doubles mean(subtract_mean ? rows : 0);
  Array inverse_std = empty_array({rows});
  Array y = empty_array(x.shape());
  kernels::layer_norm({x.data(), data_or_null(weight), data_or_null(bias), eps, rows, width}, y.data(),
                      subtract_mean ? mean.data() : nullptr, inverse_std.data());
  return Tape::record(op, {x, weight, bias}, Tensor(std::move(y)),
                      [subtract_mean, x = x.detach(), weight = weight.detach(), mean = std::move(mean),
                       inverse_std = Tensor(std::move(inverse_std)), eps, rows, width](const Array& dy, Grads& g) {
                        const kernels::NormRows in{x.data(),
                                                   data_or_null(weight),
                                                   eps,
                                                   subtract_mean ? mean.data() : nullptr,
                                                   inverse_std.data(),
                                                   dy.data(),
                                                   rows,
                                                   width};
                        const Output dx = g.buffer_if_needed(0), dweight = g.buffer_if_needed(1);
                        kernels::layer_norm_backward(in, dx, dweight, g.buffer_if_needed(2));
                      });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return normalized_rows("layer_norm", true, x, weight, bias, eps);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return normalized_rows("rms_norm", false, x, weight, {}, eps);
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr real kInfinity = std::numeric_limits<real>::infinity();

const SoftmaxTable& table() { return isa().softmax; }

}  // namespace

bool has_no_softmax(double log_sum) { return log_sum == static_cast<double>(-kInfinity); }

void write_zero_gradient(real* dx, bool accumulate, index_t width) {
  if (!accumulate) std::fill(dx, dx + width, real(0));
}

void softmax(const real* x, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) { table().softmax(x + at, y + at, width); });
}

void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_each_row(rows, width,
               [&](index_t, index_t at) { table().softmax_backward(y + at, dy + at, dx + at, accumulate, width); });
}

void log_softmax(const real* x, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) {
    const double log_sum = table().log_sum_exp(x + at, width);
    if (has_no_softmax(log_sum)) return void(std::fill(y + at, y + at + width, -kInfinity));
    const real high = static_cast<real>(log_sum), low = static_cast<real>(log_sum - static_cast<double>(high));
    isa().arithmetic.affine(x + at, 1, -high, y + at, width);
    if (std::abs(low) > 0) isa().arithmetic.affine(y + at, 1, -low, y + at, width);
  });
}

void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) {
    if (y[at] == -kInfinity && table().max(y + at, width) == -kInfinity)
      return write_zero_gradient(dx + at, accumulate, width);
    table().log_softmax_backward(y + at, dy + at, dx + at, accumulate, width);
  });
}

void log_sum_exp(const real* x, real* y, index_t rows, index_t width) {
  for_each_row(rows, width,
               [&](index_t r, index_t at) { y[r] = static_cast<real>(table().log_sum_exp(x + at, width)); });
}

void log_sum_exp_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t rows,
                          index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    table().scaled_exp(x + at, static_cast<double>(y[r]), dy[r], 0, dx + at, accumulate, width);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

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

bool all_equal(const real* x, real value, index_t n) {
  return std::all_of(x, x + n, [value](real element) { return element == value; });
}

}  // namespace

bool has_no_softmax(LogSum log_sum) { return log_sum.total == 0; }

void put_zeros(Output dx, index_t width) {
  if (!dx.add) std::fill_n(dx.data, width, real(0));
}

void softmax(const real* x, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) { table().softmax(x + at, y + at, width); });
}

void softmax_backward(const real* y, const real* dy, Output dx, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) {
    if (all_equal(dy + at, 0, width)) return put_zeros(dx.at(at), width);
    table().softmax_backward(y + at, dy + at, dx.at(at), width);
  });
}

void log_softmax(const real* x, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) {
    const LogSum log_sum = table().log_sum_exp(x + at, width);
    if (has_no_softmax(log_sum)) std::fill(y + at, y + at + width, -kInfinity);
    else table().log_softmax(x + at, log_sum, y + at, width);
  });
}

void log_softmax_backward(const real* y, const real* dy, Output dx, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t, index_t at) {
    if (all_equal(dy + at, 0, width) || all_equal(y + at, -kInfinity, width)) return put_zeros(dx.at(at), width);
    table().log_softmax_backward(y + at, dy + at, dx.at(at), width);
  });
}

void log_sum_exp(const real* x, real* y, LogSum* parts, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    parts[r] = table().log_sum_exp(x + at, width);
    y[r] = static_cast<real>(static_cast<double>(parts[r].shift) + std::log(parts[r].total));
  });
}

void log_sum_exp_backward(const real* x, const LogSum* parts, const real* dy, Output dx, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    if (dy[r] == 0 || has_no_softmax(parts[r])) return put_zeros(dx.at(at), width);
    const real scale = static_cast<real>(static_cast<double>(dy[r]) / parts[r].total);
    table().scaled_exp(x + at, parts[r].shift, scale, 0, dx.at(at), width);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

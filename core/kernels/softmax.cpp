#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

const SoftmaxTable& table() { return level().softmax; }

/// body(offset of row) for every row, shared among threads.
template <class Body>
void for_rows(index_t rows, index_t width, const Body& body) {
  const index_t piece = std::max<index_t>(1, (index_t{1} << 13) / std::max<index_t>(1, width));
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) body(r, r * width);
  });
}

}  // namespace

void softmax(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t, index_t at) { table().softmax(x + at, y + at, width); });
}

void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width,
           [&](index_t, index_t at) { table().softmax_backward(y + at, dy + at, dx + at, accumulate, width); });
}

void log_softmax(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t, index_t at) {
    const real log_sum = table().log_sum_exp(x + at, width);
    level().elementwise.affine(x + at, 1, -log_sum, y + at, width);
  });
}

void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width,
           [&](index_t, index_t at) { table().log_softmax_backward(y + at, dy + at, dx + at, accumulate, width); });
}

void cross_entropy(const real* x, const index_t* targets, real* losses, real* log_sums, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t r, index_t at) {
    const bool counted = targets[r] >= 0;
    log_sums[r] = counted ? table().log_sum_exp(x + at, width) : 0;
    losses[r] = counted ? log_sums[r] - x[at + targets[r]] : 0;
  });
}

void cross_entropy_backward(const real* x, const index_t* targets, const real* log_sums, const real* weights, real* dx,
                            bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t r, index_t at) {
    if (targets[r] < 0) {
      if (!accumulate) std::fill(dx + at, dx + at + width, real(0));
      return;
    }
    table().exp_shifted(x + at, log_sums[r], weights[r], dx + at, accumulate, width);
    dx[at + targets[r]] -= weights[r];
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

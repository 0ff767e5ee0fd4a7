#include <xtape/core/kernels/permute.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

void copy_run(const real* x, index_t step_x, real* y, index_t step_y, bool accumulate, index_t n) {
  if (step_x == 1 && step_y == 1 && !accumulate) {
    std::copy(x, x + n, y);
  } else if (accumulate) {
    for (index_t i = 0; i < n; ++i) y[i * step_y] += x[i * step_x];
  } else {
    for (index_t i = 0; i < n; ++i) y[i * step_y] = x[i * step_x];
  }
}

}  // namespace

void gather_strided(const Walk& walk, const real* x, real* y, bool accumulate) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1], step = w.stride[w.rank - 1];
  for_all_rows(w, [&](index_t row, index_t at, index_t) { copy_run(x + at, step, y + row * run, 1, accumulate, run); });
}

void scatter_strided(const Walk& walk, const real* x, real* y, bool accumulate) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1], step = w.stride[w.rank - 1];
  for_all_rows(w, [&](index_t row, index_t at, index_t) { copy_run(x + row * run, 1, y + at, step, accumulate, run); });
}

void binary_strided(Binary f, const Walk& walk, const real* a, const real* b, real* y) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1];
  const index_t step_a = w.stride[w.rank - 1], step_b = w.stride_b[w.rank - 1];
  for_all_rows(w, [&](index_t row, index_t at, index_t at_b) {
    binary(f, a + at, step_a, b + at_b, step_b, y + row * run, run);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

#include <xtape/core/kernels/permute.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

index_t outer_count(const Walk& walk) {
  index_t count = 1;
  for (int i = 0; i + 1 < walk.rank; ++i) count *= walk.extent[i];
  return count;
}

/// body(row, offset, offset_b) for each row: a run along the last axis. Rows are shared among threads.
template <class Body>
void for_runs(const Walk& walk, const Body& body) {
  const index_t rows = outer_count(walk);
  const index_t run = walk.extent[walk.rank - 1];
  if (run == 0 || rows == 0) return;
  const index_t piece = std::max<index_t>(1, (index_t{1} << 15) / run);
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) {
    index_t position[kMaxRank] = {};
    index_t offset = 0, offset_b = 0;
    for (index_t i = walk.rank - 2, rest = begin; i >= 0; --i) {
      position[i] = rest % walk.extent[i];
      rest /= walk.extent[i];
      offset += position[i] * walk.stride[i];
      offset_b += position[i] * walk.stride_b[i];
    }
    for (index_t row = begin; row < end; ++row) {
      body(row, offset, offset_b);
      for (index_t i = walk.rank - 2; i >= 0; --i) {
        offset += walk.stride[i];
        offset_b += walk.stride_b[i];
        if (++position[i] < walk.extent[i]) break;
        position[i] = 0;
        offset -= walk.extent[i] * walk.stride[i];
        offset_b -= walk.extent[i] * walk.stride_b[i];
      }
    }
  });
}

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

Walk joined(const Walk& walk) {
  Walk out;
  for (int i = 0; i < walk.rank; ++i) {
    if (walk.extent[i] == 1) continue;
    const int last = out.rank - 1;
    if (last >= 0 && out.stride[last] == walk.stride[i] * walk.extent[i] &&
        out.stride_b[last] == walk.stride_b[i] * walk.extent[i]) {
      out.extent[last] *= walk.extent[i];
      out.stride[last] = walk.stride[i];
      out.stride_b[last] = walk.stride_b[i];
    } else {
      out.extent[out.rank] = walk.extent[i];
      out.stride[out.rank] = walk.stride[i];
      out.stride_b[out.rank] = walk.stride_b[i];
      ++out.rank;
    }
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.extent[0] = 1;
    out.stride[0] = out.stride_b[0] = 1;
  }
  return out;
}

void gather_strided(const Walk& walk, const real* x, real* y, bool accumulate) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1], step = w.stride[w.rank - 1];
  for_runs(w, [&](index_t row, index_t at, index_t) { copy_run(x + at, step, y + row * run, 1, accumulate, run); });
}

void scatter_strided(const Walk& walk, const real* x, real* y, bool accumulate) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1], step = w.stride[w.rank - 1];
  for_runs(w, [&](index_t row, index_t at, index_t) { copy_run(x + row * run, 1, y + at, step, accumulate, run); });
}

void binary_strided(Binary f, const Walk& walk, const real* a, const real* b, real* y) {
  const Walk w = joined(walk);
  const index_t run = w.extent[w.rank - 1];
  const index_t step_a = w.stride[w.rank - 1], step_b = w.stride_b[w.rank - 1];
  for_runs(w, [&](index_t row, index_t at, index_t at_b) {
    binary(f, a + at, step_a, b + at_b, step_b, y + row * run, run);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

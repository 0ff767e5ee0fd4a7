#include <xtape/core/kernels/indexing.hpp>
#include <xtape/core/kernels/isa.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

/// body(i) for every row, several rows to a task.
template <class Body>
void parallel_over_rows(index_t count, index_t width, const Body& body) {
  parallel_ranges(count, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace

void gather_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, Output y) {
  const StridedLoop w = coalesced(loop);
  const index_t inner_size = w.size[w.rank - 1], stride = w.stride[w.rank - 1];
  parallel_rows(w, [&](index_t row, index_t at, index_t) {
    const index_t* picked = index + row * inner_size;
    real* out = y.data + row * inner_size;
    for (index_t i = 0; i < inner_size; ++i) {
      const real value = x[at + i * stride + picked[i] * step];
      out[i] = y.add ? out[i] + value : value;
    }
  });
}

void scatter_add_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y) {
  const StridedLoop w = coalesced(loop);
  const index_t inner_size = w.size[w.rank - 1], stride = w.stride[w.rank - 1];
  if (inner_size == 0) return;
  for_rows(w, 0, row_count(w), [&](index_t row, index_t at, index_t) {
    for (index_t i = 0; i < inner_size; ++i)
      y[at + i * stride + index[row * inner_size + i] * step] += x[row * inner_size + i];
  });
}

void take_rows(const real* x, const index_t* rows, index_t count, index_t width, real* out) {
  parallel_over_rows(count, width, [&](index_t i) { std::copy_n(x + rows[i] * width, width, out + i * width); });
}

void put_rows(const real* x, const index_t* rows, index_t count, index_t width, Output out) {
  parallel_over_rows(count, width,
                     [&](index_t i) { isa().arithmetic.scaled(x + i * width, 1, out.at(rows[i] * width), width); });
}

void add_rows(const real* x, const index_t* rows, index_t count, index_t width, index_t skipped, real* out) {
  for (index_t i = 0; i < count; ++i)
    if (rows[i] != skipped) isa().arithmetic.scaled(x + i * width, 1, {out + rows[i] * width, true}, width);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

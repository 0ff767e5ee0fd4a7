#include <xtape/core/kernels/indexing.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

void gather_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y, bool accumulate) {
  const StridedLoop w = coalesced(loop);
  const index_t run = w.size[w.rank - 1], stride = w.stride[w.rank - 1];
  parallel_rows(w, [&](index_t row, index_t at, index_t) {
    const index_t* picked = index + row * run;
    real* out = y + row * run;
    for (index_t i = 0; i < run; ++i) {
      const real value = x[at + i * stride + picked[i] * step];
      out[i] = accumulate ? out[i] + value : value;
    }
  });
}

void scatter_add_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y) {
  const StridedLoop w = coalesced(loop);
  const index_t run = w.size[w.rank - 1], stride = w.stride[w.rank - 1];
  if (run == 0) return;
  for_rows(w, 0, row_count(w), [&](index_t row, index_t at, index_t) {
    for (index_t i = 0; i < run; ++i) y[at + i * stride + index[row * run + i] * step] += x[row * run + i];
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

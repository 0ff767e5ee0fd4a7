// Reading and adding at positions that an array of indices gives.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>
#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[i] = x[offset_i + index[i] * step] for the ith element of the loop. offset_i is the element's offset in the
/// strided operand.
void gather_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, Output y);

/// y[offset_i + index[i] * step] += x[i], in the order of the loop: an index may repeat.
void scatter_add_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y);

/// out[i] = x[rows[i]] for rows of `width` elements.
void take_rows(const real* x, const index_t* rows, index_t count, index_t width, real* out);

/// out[rows[i]] = x[i]; the rows must be distinct.
void put_rows(const real* x, const index_t* rows, index_t count, index_t width, Output out);

/// out[rows[i]] += x[i] in order, so that a row may repeat; nothing is added to the row `skipped`.
void add_rows(const real* x, const index_t* rows, index_t count, index_t width, index_t skipped, real* out);

}  // namespace xtape::inline XTAPE_DTYPE::kernels

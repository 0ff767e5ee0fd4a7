#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/shape.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

void copy_strided_row(const real* x, index_t step_x, Output y, index_t step_y, index_t n) {
  real* to = y.data;
  if (step_x == 1 && step_y == 1 && !y.add) {
    std::copy(x, x + n, to);
  } else if (step_x == 0 && step_y == 1 && !y.add) {
    std::fill_n(to, n, *x);
  } else if (y.add) {
    for (index_t i = 0; i < n; ++i) to[i * step_y] += x[i * step_x];
  } else {
    for (index_t i = 0; i < n; ++i) to[i * step_y] = x[i * step_x];
  }
}

/// to[i * to_stride + j] = from[j * from_stride + i], or added to it, for i < rows and j < columns, at most kSquare
/// each, so that each cache line of either is touched once. The square to be read next is at from + next.
void transpose(index_t rows, index_t columns, const real* from, index_t from_stride, index_t next, Output to,
               index_t to_stride) {
  if (rows == kSquare && columns == kSquare && !to.add)
    return isa().shape.transpose(from, from_stride, next, to.data, to_stride);
  real square[kSquare][kSquare];
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < rows; ++i) square[i][j] = from[j * from_stride + i];
  for (index_t i = 0; i < rows; ++i) copy_strided_row(square[i], 1, to.at(i * to_stride), 1, columns);
}

/// Whether the last two axes are transposed in the strided operand. (A last axis that is broadcast, with stride 0, is
/// faster row by row.)
bool transposes(const StridedLoop& w) { return w.rank > 1 && w.stride[w.rank - 1] > 1 && w.stride[w.rank - 2] == 1; }

/// body(row, rows, column, columns, offset) for squares of up to kSquare rows and columns of the last two axes, shared
/// among threads; `offset` is the offset of the first row.
template <class Body>
void parallel_squares(const StridedLoop& w, const Body& body) {
  const int axis = w.rank - 2;
  const index_t size = w.size[axis], inner_size = w.size[axis + 1];
  StridedLoop blocks = w;
  blocks.size[axis] = (size + kSquare - 1) / kSquare;
  blocks.stride[axis] = kSquare;
  parallel_rows(blocks, [&](index_t block, index_t offset, index_t) {
    const index_t first = block % blocks.size[axis] * kSquare, row = block / blocks.size[axis] * size + first;
    for (index_t column = 0; column < inner_size; column += kSquare)
      body(row, std::min(kSquare, size - first), column, std::min(kSquare, inner_size - column), offset);
  });
}

}  // namespace

void copy_from_strided(const StridedLoop& loop, const real* x, Output y) {
  const StridedLoop w = coalesced(loop);
  const index_t inner_size = w.size[w.rank - 1], step = w.stride[w.rank - 1];
  if (transposes(w))
    return parallel_squares(w, [&](index_t row, index_t rows, index_t column, index_t columns, index_t at) {
      transpose(rows, columns, x + at + column * step, step, kSquare * step, y.at(row * inner_size + column),
                inner_size);
    });
  parallel_rows(w, [&](index_t row, index_t at, index_t) {
    copy_strided_row(x + at, step, y.at(row * inner_size), 1, inner_size);
  });
}

void copy_to_strided(const StridedLoop& loop, const real* x, Output y) {
  const StridedLoop w = coalesced(loop);
  const index_t inner_size = w.size[w.rank - 1], step = w.stride[w.rank - 1];
  if (transposes(w))
    return parallel_squares(w, [&](index_t row, index_t rows, index_t column, index_t columns, index_t at) {
      transpose(columns, rows, x + row * inner_size + column, inner_size, kSquare, y.at(at + column * step), step);
    });
  parallel_rows(w, [&](index_t row, index_t at, index_t) {
    copy_strided_row(x + row * inner_size, 1, y.at(at), step, inner_size);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

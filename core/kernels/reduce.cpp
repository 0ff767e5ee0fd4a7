#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

constexpr index_t kPiece = 1 << 15;  // elements of one partial sum
constexpr index_t kRows = 64;        // rows that a column sum adds up in `real`

template <class Piece>
double in_pieces(index_t n, const Piece& piece) {
  if (n <= kPiece) return piece(index_t{0}, n);
  const index_t pieces = (n + kPiece - 1) / kPiece;
  const Scratch<double> partial(pieces);
  parallel_for(pieces, [&](index_t p) { partial[p] = piece(p * kPiece, std::min(n, (p + 1) * kPiece)); });
  double total = 0;
  for (index_t p = 0; p < pieces; ++p) total += partial[p];
  return total;
}

void put(real* out, double value, bool accumulate) {
  *out = static_cast<real>(accumulate ? static_cast<double>(*out) + value : value);
}

/// Sums over the rows of one [rows, columns] matrix.
void column_sums(const real* x, index_t rows, index_t columns, double scale, real* out, bool accumulate) {
  const index_t blocks = (rows + kRows - 1) / kRows;
  const Scratch<real> partial(blocks * columns);
  const auto block = [&](index_t b) {
    const index_t begin = b * kRows;
    level().reduce.column_sums(x + begin * columns, std::min(kRows, rows - begin), columns, columns,
                               partial.data() + b * columns);
  };
  if (rows * columns > kPiece) {
    parallel_for(blocks, block);
  } else {
    for (index_t b = 0; b < blocks; ++b) block(b);
  }
  for (index_t c = 0; c < columns; ++c) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += static_cast<double>(partial[b * columns + c]);
    put(out + c, scale * total, accumulate);
  }
}

}  // namespace

double sum(const real* x, index_t n) {
  return in_pieces(n, [x](index_t b, index_t e) { return level().reduce.sum(x + b, e - b); });
}

double sum_of_squares(const real* x, index_t n) {
  return in_pieces(n, [x](index_t b, index_t e) { return level().reduce.sum_of_squares(x + b, e - b); });
}

void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double scale, real* out, bool accumulate) {
  if (inner == 1) {
    if (outer == 1) return put(out, scale * sum(x, count), accumulate);
    parallel_ranges(outer, std::max<index_t>(1, kPiece / std::max<index_t>(1, count)), [&](index_t b, index_t e) {
      for (index_t o = b; o < e; ++o) put(out + o, scale * level().reduce.sum(x + o * count, count), accumulate);
    });
    return;
  }
  for (index_t o = 0; o < outer; ++o)
    column_sums(x + o * count * inner, count, inner, scale, out + o * inner, accumulate);
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

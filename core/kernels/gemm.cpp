#include <xtape/core/kernels/backend.hpp>
#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

constexpr index_t kTileWork = index_t{1} << 22;  // multiply-adds worth a tile of their own
constexpr index_t kTileRows = 48;                // the smallest tile along the cut side
constexpr index_t kMaxTiles = 64;

constexpr index_t kDepth = 256;                  // our own product: a panel of B of this depth fits the first cache
constexpr index_t kOwnTask = index_t{1} << 18;   // smaller products stay on one thread
constexpr index_t kPackTask = index_t{1} << 14;  // elements of B that a thread packs at a time
constexpr index_t kNearElements = 1 << 19;       // of an operand in the second cache
constexpr index_t kTasksPerThread = 4;           // so that a thread that is late holds up little

/// Rows begin.. of a [m, k], or columns begin.. of b [k, n].
Factor rows_from(Factor a, index_t begin) {
  a.data += a.transposed ? begin : begin * a.stride;
  return a;
}
Factor columns_from(Factor b, index_t begin) {
  b.data += b.transposed ? begin * b.stride : begin;
  return b;
}

/// Rows in each run of panels: all runs alike, none deeper than kDepth.
index_t even_depth(index_t k) {
  const index_t runs = std::max<index_t>(1, (k + kDepth - 1) / kDepth);
  return std::max<index_t>(1, (k + runs - 1) / runs);
}

/// A product over nothing: c *= beta, without reading c if beta is 0.
void scale_rows(index_t m, index_t n, real beta, real* c, index_t stride_c) {
  for (index_t r = 0; r < m; ++r) {
    if (beta == 0) fill(c + r * stride_c, 0, n);
    else scaled(c + r * stride_c, beta, c + r * stride_c, false, n);
  }
}

}  // namespace

PackedFactor::PackedFactor(Factor b, index_t k, index_t n)
    : k_(k), n_(n), depth_(even_depth(k)), panels_(level().gemm.packed_size(k, n)) {
  const GemmTable& table = level().gemm;
  const index_t piece = std::max<index_t>(1, kPackTask / std::max<index_t>(1, k) / table.tile_columns);
  parallel_ranges(n, piece * table.tile_columns, [&](index_t begin, index_t end) {
    for (index_t first = 0; first < k; first += depth_) {
      const index_t depth = std::min(depth_, k - first);
      table.pack_b(columns_from(rows_from(b, first), begin), depth, end - begin,
                   panels_.data() + table.packed_size(first, n) + table.packed_size(depth, begin));
    }
  });
}

/// gemm with the columns of b from `column`, a multiple of the tile, on. A transposed A has `further` rows more in
/// memory, which will be read soon.
void multiply_rows(index_t m, index_t column, index_t n, index_t k, real alpha, Factor a, const PackedFactor& b,
                   real beta, real* c, index_t stride_c, const real* bias, index_t further) {
  const GemmTable& table = level().gemm;
  const Scratch<real> panel(a.transposed ? std::min(m, kGemmRows) * std::min(k, b.depth_) : 0);
  for (index_t row = 0; row < m; row += kGemmRows) {
    const index_t rows = std::min(kGemmRows, m - row), next_rows = std::min(kGemmRows, m - row - rows);
    for (index_t first = 0; first < k; first += b.depth_) {
      const index_t packed_depth = std::min(b.depth_, b.k_ - first), depth = std::min(packed_depth, k - first);
      const real* panels = b.panels_.data() + table.packed_size(first, b.n_) + table.packed_size(packed_depth, column);
      const Factor left = rows_from(columns_from(a, first), row);
      Region next;
      if (a.transposed && next_rows > 0) next = {left.data + rows, a.stride, depth, next_rows};
      else if (a.transposed) next = {a.data + (first + depth) * a.stride, a.stride, std::min(depth, further), rows};
      table.block(rows, n, depth, alpha, left, {panels, packed_depth, b.n_ - column}, first == 0 ? beta : real(1),
                  first == 0 ? bias : nullptr, c + row * stride_c, stride_c, next, panel.data());
    }
  }
}

void gemm(index_t m, index_t n, index_t k, real alpha, Factor a, const PackedFactor& b, real beta, real* c,
          index_t stride_c) {
  if (m == 0 || n == 0) return;
  if (k == 0) return scale_rows(m, n, beta, c, stride_c);
  multiply_rows(m, 0, n, k, alpha, a, b, beta, c, stride_c, nullptr, 0);
}

namespace {

constexpr index_t pieces(index_t total, index_t piece) { return (total + piece - 1) / piece; }

/// How C is cut. No element's sum is split, so the bits do not depend on the cut and it may depend on the threads.
struct Cut {
  index_t row_blocks, column_blocks;

  static Cut of(index_t row_panels, index_t column_panels) {
    const index_t workers = threads(), wanted = workers == 1 ? 1 : kTasksPerThread * workers;
    // Both A and B are read once for each cut across them: rows are cut first, as their blocks must be small anyhow.
    const index_t least = pieces(row_panels, kGemmRows / level().gemm.tile_rows);
    const index_t rows = std::max(least, std::min(row_panels, pieces(std::max(least, wanted / 2), workers) * workers));
    return {rows, std::min(column_panels, pieces(wanted, rows))};
  }
};

/// A^T B over many rows, as for the gradient of a weight: C is cut by columns, and who has them packs these columns of
/// B by itself, run after run, instead of waiting for others at the end of each.
void own_column_product(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c,
                        index_t stride_c, const real* bias, index_t blocks) {
  const index_t tile = level().gemm.tile_columns, panels = pieces(n, tile), run = even_depth(k);
  parallel_for(blocks, [&](index_t block) {
    const index_t column = block * panels / blocks * tile;
    const index_t columns = std::min(n, (block + 1) * panels / blocks * tile) - column;
    for (index_t first = 0; first < k; first += run) {
      const index_t depth = std::min(run, k - first);
      const PackedFactor packed(columns_from(rows_from(b, first), column), depth, columns);
      multiply_rows(m, 0, columns, depth, alpha, columns_from(a, first), packed, first == 0 ? beta : real(1),
                    c + column, stride_c, first == 0 && bias ? bias + column : nullptr, k - first - depth);
    }
  });
}

/// The blocks of columns to cut C into for own_column_product, or 0 if the other way is better: where the columns do
/// not suffice for all threads, or A does not fit the second cache, out of which every block reads it.
index_t column_blocks(index_t m, index_t n, index_t k, Factor a) {
  const index_t panels = pieces(n, level().gemm.tile_columns), workers = threads();
  if (workers == 1 || !a.transposed || k <= kDepth || m * k > kNearElements) return 0;
  if (panels % workers != 0 && panels < 4 * workers) return 0;
  return std::max(workers, panels / 2);
}

/// Our own product, in runs along k that keep what is packed of B in the second cache; C is cut at the edges of tiles.
void own_product(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c, index_t stride_c,
                 const real* bias) {
  if (const index_t blocks = column_blocks(m, n, k, a); blocks > 0 && m * n * k > kOwnTask)
    return own_column_product(m, n, k, alpha, a, b, beta, c, stride_c, bias, blocks);
  const GemmTable& table = level().gemm;
  const index_t row_panels = pieces(m, table.tile_rows), column_panels = pieces(n, table.tile_columns);
  const Cut cut = m * n * k <= kOwnTask ? Cut{1, 1} : Cut::of(row_panels, column_panels);
  const index_t run = even_depth(k);
  for (index_t first = 0; first < k; first += run) {
    const index_t depth = std::min(run, k - first);
    const PackedFactor packed(rows_from(b, first), depth, n);
    parallel_for(cut.row_blocks * cut.column_blocks, [&](index_t task) {
      const index_t i = task / cut.column_blocks, j = task % cut.column_blocks;
      const index_t row = i * row_panels / cut.row_blocks * table.tile_rows;
      const index_t end_row = std::min(m, (i + 1) * row_panels / cut.row_blocks * table.tile_rows);
      const index_t column = j * column_panels / cut.column_blocks * table.tile_columns;
      const index_t end_column = std::min(n, (j + 1) * column_panels / cut.column_blocks * table.tile_columns);
      multiply_rows(end_row - row, column, end_column - column, depth, alpha, rows_from(columns_from(a, first), row),
                    packed, first == 0 ? beta : real(1), c + row * stride_c + column, stride_c,
                    first == 0 && bias ? bias + column : nullptr, 0);
    });
  }
}

/// Another library, in tiles along the longer side.
void tiled_library_product(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c,
                           index_t stride_c) {
  const bool by_rows = m >= n;
  const index_t side = by_rows ? m : n;
  index_t tiles = std::clamp(m * n * k / kTileWork, index_t{1}, std::min(kMaxTiles, side / kTileRows + 1));
  if (tiles > 1) tiles += tiles % 2;
  const index_t piece = (((side + tiles - 1) / tiles + 15) / 16) * 16;
  parallel_ranges(side, piece, [&](index_t begin, index_t end) {
    if (by_rows)
      library_product(end - begin, n, k, alpha, rows_from(a, begin), b, beta, c + begin * stride_c, stride_c);
    else library_product(m, end - begin, k, alpha, a, columns_from(b, begin), beta, c + begin, stride_c);
  });
}

}  // namespace

void gemm(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c, index_t stride_c,
          const real* bias) {
  if (m == 0 || n == 0) return;
  if (k > 0 && backend() == Backend::own) return own_product(m, n, k, alpha, a, b, beta, c, stride_c, bias);
  if (k > 0) tiled_library_product(m, n, k, alpha, a, b, beta, c, stride_c);
  else scale_rows(m, n, beta, c, stride_c);
  for (index_t r = 0; bias && r < m; ++r) binary(Binary::add, c + r * stride_c, 1, bias, 1, c + r * stride_c, n);
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kTileWork = index_t{1} << 22;  // multiply-adds worth a tile of their own
constexpr index_t kMR = 48;                      // the smallest tile along the cut side
constexpr index_t kMaxTiles = 64;

constexpr index_t kKC = 256;                     // our own product: a panel of B of this depth fits the first cache
constexpr index_t kOwnTask = index_t{1} << 18;   // smaller products stay on one thread
constexpr index_t kPackTask = index_t{1} << 14;  // elements of B that a thread packs at a time
constexpr index_t kHalvedElements = 1 << 19;     // of a C whose sum is taken in two halves, at most
constexpr index_t kBlockSide = 384;              // of a square block of C that stays in the second cache
constexpr index_t kBlocksPerThread = 2;
constexpr index_t kFewRows = 128;       // of an A that every thread may as well read whole, at most
constexpr index_t kAddTask = 1 << 14;   // elements of the second half that a thread adds at a time
constexpr index_t kTasksPerThread = 4;  // so that a thread that is late holds up little

/// Rows begin.. of a [m, k], or columns begin.. of b [k, n].
MatrixView rows_from(MatrixView a, index_t begin) {
  a.data += a.transposed ? begin : begin * a.stride;
  return a;
}
MatrixView columns_from(MatrixView b, index_t begin) {
  b.data += b.transposed ? begin * b.stride : begin;
  return b;
}

/// Rows row to row + rows - 1 of a transposed A, of these columns first to first + depth - 1, as they lie in memory.
PrefetchRegion region_of(MatrixView a, index_t row, index_t rows, index_t first, index_t depth) {
  return {a.data + first * a.stride + row, a.stride, depth, rows};
}

/// Rows in each run of panels: all runs alike, none deeper than kKC.
index_t even_depth(index_t k) {
  const index_t runs = std::max<index_t>(1, (k + kKC - 1) / kKC);
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

PackedMatrix::PackedMatrix(MatrixView b, index_t k, index_t n)
    : k_(k), n_(n), depth_(even_depth(k)), panels_(isa().gemm.packed_size(k, n)) {
  const GemmTable& table = isa().gemm;
  const index_t piece = std::max<index_t>(1, kPackTask / std::max<index_t>(1, k) / table.tile_columns);
  parallel_ranges(n, piece * table.tile_columns, [&](index_t begin, index_t end) {
    for (index_t first = 0; first < k; first += depth_) {
      const index_t depth = std::min(depth_, k - first);
      table.pack_b(columns_from(rows_from(b, first), begin), depth, end - begin,
                   panels_.data() + table.packed_size(first, n) + table.packed_size(depth, begin));
    }
  });
}

/// c [m, n] = alpha a b + beta c, plus `bias` (or null) to every row.
struct GemmProblem {
  index_t m, n, k;
  real alpha;
  MatrixView a, b;
  real beta;
  real* c;
  index_t stride_c;
  const real* bias;
  CausalSkip skip;

  /// Only the summands first to first + depth - 1, added to those before.
  GemmProblem over(index_t first, index_t depth) const {
    GemmProblem part = *this;
    part.k = depth;
    part.a = columns_from(a, first);
    part.b = rows_from(b, first);
    if (first > 0) part.beta = 1, part.bias = nullptr;
    if (skip.operand == CausalSkip::Operand::a) part.skip.first -= first;
    if (skip.operand == CausalSkip::Operand::transposed_a) part.skip.first += first;
    return part;
  }

  /// Only these rows and columns of c.
  GemmProblem within(index_t row, index_t rows, index_t column, index_t columns) const {
    GemmProblem part = *this;
    part.m = rows;
    part.n = columns;
    part.a = rows_from(a, row);
    part.b = columns_from(b, column);
    part.c += row * stride_c + column;
    if (bias) part.bias += column;
    if (skip.operand == CausalSkip::Operand::c) part.skip.first += row - column;
    if (skip.operand == CausalSkip::Operand::a) part.skip.first += row;
    if (skip.operand == CausalSkip::Operand::transposed_a) part.skip.first -= row;
    return part;
  }
};

/// p with the columns of the packed b from `column`, a multiple of the tile, on. `next` is what is read of a transposed
/// A after it.
void multiply_rows(const GemmProblem& p, const PackedMatrix& b, index_t column, PrefetchRegion next) {
  const GemmTable& table = isa().gemm;
  const Scratch<real> panel(p.a.transposed ? std::min(p.m, kMC) * std::min(p.k, b.depth_) : 0);
  for (index_t row = 0; row < p.m; row += kMC) {
    const index_t rows = std::min(kMC, p.m - row), next_rows = std::min(kMC, p.m - row - rows);
    for (index_t first = 0; first < p.k; first += b.depth_) {
      const index_t packed_depth = std::min(b.depth_, b.k_ - first), depth = std::min(packed_depth, p.k - first);
      const real* panels = b.panels_.data() + table.packed_size(first, b.n_) + table.packed_size(packed_depth, column);
      const GemmProblem run = p.over(first, depth).within(row, rows, 0, p.n);
      const PrefetchRegion after =
          next_rows == 0 || !p.a.transposed ? next : region_of(p.a, row + rows, next_rows, first, depth);
      table.block(rows, p.n, depth, p.alpha, run.a, {panels, packed_depth, b.n_ - column}, run.beta, run.bias, run.c,
                  p.stride_c, after, run.skip, panel.data());
    }
  }
}

void gemm(index_t m, index_t n, index_t k, real alpha, MatrixView a, const PackedMatrix& b, real beta, real* c,
          index_t stride_c, CausalSkip skip) {
  if (m == 0 || n == 0) return;
  if (k == 0) return scale_rows(m, n, beta, c, stride_c);
  multiply_rows({m, n, k, alpha, a, {}, beta, c, stride_c, nullptr, skip}, b, 0, {});
}

namespace {

constexpr index_t pieces(index_t total, index_t piece) { return (total + piece - 1) / piece; }

/// How C is cut, at the edges of tiles. It does not matter to any element's sum, so it may depend on the threads.
struct Partition {
  index_t row_panels, column_panels, row_blocks = 1, column_blocks = 1;

  Partition(index_t m, index_t n)
      : row_panels(pieces(m, isa().gemm.tile_rows)), column_panels(pieces(n, isa().gemm.tile_columns)) {}

  index_t blocks() const { return row_blocks * column_blocks; }
};

/// Rows row to row + rows - 1 and columns column to column + columns - 1 of C.
struct Block {
  index_t row, rows, column, columns;

  Block(const Partition& cut, index_t number, index_t m, index_t n) {
    const index_t i = number / cut.column_blocks, j = number % cut.column_blocks;
    row = i * cut.row_panels / cut.row_blocks * isa().gemm.tile_rows;
    rows = std::min(m, (i + 1) * cut.row_panels / cut.row_blocks * isa().gemm.tile_rows) - row;
    column = j * cut.column_panels / cut.column_blocks * isa().gemm.tile_columns;
    columns = std::min(n, (j + 1) * cut.column_panels / cut.column_blocks * isa().gemm.tile_columns) - column;
  }
};

/// The cut for threads that share what is packed of B. Both A and B are read once for each cut across them: rows are
/// cut first, as their blocks must be small anyhow.
Partition shared_cut(index_t m, index_t n) {
  Partition cut(m, n);
  const index_t workers = threads(), wanted = workers == 1 ? 1 : kTasksPerThread * workers;
  const index_t least = pieces(cut.row_panels, kMC / isa().gemm.tile_rows);
  cut.row_blocks = std::max(least, std::min(cut.row_panels, pieces(std::max(least, wanted / 2), workers) * workers));
  cut.column_blocks = std::min(cut.column_panels, pieces(wanted, cut.row_blocks));
  return cut;
}

/// p run after run by the calling thread, which packs what it needs of B by itself.
void multiply_runs(const GemmProblem& p, index_t run) {
  for (index_t first = 0; first < p.k; first += run) {
    const index_t depth = std::min(run, p.k - first), next = first + depth;
    const GemmProblem part = p.over(first, depth);
    const PrefetchRegion after =
        p.a.transposed ? region_of(p.a, 0, std::min(kMC, p.m), next, std::min(run, p.k - next)) : PrefetchRegion{};
    multiply_rows(part, PackedMatrix(part.b, depth, p.n), 0, after);
  }
}

/// The cut for threads that pack by themselves, into at least `wanted` blocks if there are so many. A block of C stays
/// in the second cache. Each block of columns reads all of A, each block of rows packs all of its B: columns are cut
/// first.
Partition separate_cut(index_t m, index_t n, index_t wanted) {
  Partition cut(m, n);
  cut.row_blocks = pieces(m, kBlockSide);
  const index_t columns = kBlockSide * kBlockSide / std::min(m, kBlockSide);
  cut.column_blocks = std::min(cut.column_panels, std::max(pieces(n, columns), pieces(wanted, cut.row_blocks)));
  cut.row_blocks = std::max(cut.row_blocks, std::min(cut.row_panels, pieces(wanted, cut.column_blocks)));
  return cut;
}

/// Whether the sum over k is taken in two halves: where C is small, threads that share the rows of A and B read each of
/// them once, and mostly what they wrote themselves. The shape alone decides, so that the bits depend on nothing else.
bool halved(const GemmProblem& p) { return p.a.transposed && p.k >= 4 * kKC && p.m * p.n <= kHalvedElements; }

/// A^T B over many rows, as for the gradient of a weight: nobody waits for others at the end of each run.
void gemm_private_b(const GemmProblem& p) {
  const index_t run = even_depth(p.k), halves = halved(p) ? 2 : 1, half = pieces(pieces(p.k, run), halves) * run;
  const Partition cut = separate_cut(p.m, p.n, pieces(threads() == 1 ? 1 : kBlocksPerThread * threads(), halves));
  const Scratch<real> second(halves == 2 ? p.m * p.n : 0);
  parallel_for(halves * cut.blocks(), [&](index_t number) {
    const Block block(cut, number % cut.blocks(), p.m, p.n);
    GemmProblem mine = p;
    if (number < cut.blocks()) {
      mine.k = std::min(half, p.k);
    } else {
      mine = p.over(half, p.k - half);
      mine.beta = 0;
      mine.c = second.data();
      mine.stride_c = p.n;
    }
    multiply_runs(mine.within(block.row, block.rows, block.column, block.columns), run);
  });
  if (halves == 1) return;
  parallel_ranges(p.m, std::max<index_t>(1, kAddTask / p.n), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      binary(Binary::add, p.c + r * p.stride_c, 1, second.data() + r * p.n, 1, p.c + r * p.stride_c, p.n);
  });
}

/// All threads pack B and share it, run after run, so that it stays in the second cache.
void gemm_shared_b(const GemmProblem& p, const Partition& cut) {
  const index_t run = even_depth(p.k);
  for (index_t first = 0; first < p.k; first += run) {
    const GemmProblem part = p.over(first, std::min(run, p.k - first));
    const PackedMatrix packed(part.b, part.k, p.n);
    parallel_for(cut.blocks(), [&](index_t number) {
      const Block block(cut, number, p.m, p.n);
      multiply_rows(part.within(block.row, block.rows, block.column, block.columns), packed, block.column, {});
    });
  }
}

/// A of few rows: each thread packs columns of B for itself and reads all of A, and nobody waits after each run.
void gemm_split_n(const GemmProblem& p) {
  Partition cut(p.m, p.n);
  cut.column_blocks = threads() == 1 ? 1 : std::min(cut.column_panels, kBlocksPerThread * threads());
  parallel_for(cut.blocks(), [&](index_t number) {
    const Block block(cut, number, p.m, p.n);
    multiply_runs(p.within(block.row, block.rows, block.column, block.columns), even_depth(p.k));
  });
}

/// Our own product, in runs along k.
void gemm_own(const GemmProblem& p) {
  if (p.m * p.n * p.k <= kOwnTask) return gemm_shared_b(p, Partition(p.m, p.n));
  if (p.a.transposed && p.k > kKC) return gemm_private_b(p);
  if (p.m <= kFewRows && p.n >= kBlocksPerThread * threads() * isa().gemm.tile_columns) return gemm_split_n(p);
  gemm_shared_b(p, shared_cut(p.m, p.n));
}

/// Another library, in tiles along the longer side.
void tiled_library_product(index_t m, index_t n, index_t k, real alpha, MatrixView a, MatrixView b, real beta, real* c,
                           index_t stride_c) {
  const bool by_rows = m >= n;
  const index_t side = by_rows ? m : n;
  index_t tiles = std::clamp(m * n * k / kTileWork, index_t{1}, std::min(kMaxTiles, side / kMR + 1));
  if (tiles > 1) tiles += tiles % 2;
  const index_t piece = (((side + tiles - 1) / tiles + 15) / 16) * 16;
  parallel_ranges(side, piece, [&](index_t begin, index_t end) {
    if (by_rows) blas_gemm(end - begin, n, k, alpha, rows_from(a, begin), b, beta, c + begin * stride_c, stride_c);
    else blas_gemm(m, end - begin, k, alpha, a, columns_from(b, begin), beta, c + begin, stride_c);
  });
}

}  // namespace

void gemm(index_t m, index_t n, index_t k, real alpha, MatrixView a, MatrixView b, real beta, real* c, index_t stride_c,
          const real* bias, CausalSkip skip) {
  if (m == 0 || n == 0) return;
  if (k > 0 && gemm_backend() == GemmBackend::own)
    return gemm_own({m, n, k, alpha, a, b, beta, c, stride_c, bias, skip});
  if (k > 0) tiled_library_product(m, n, k, alpha, a, b, beta, c, stride_c);
  else scale_rows(m, n, beta, c, stride_c);
  for (index_t r = 0; bias && r < m; ++r) binary(Binary::add, c + r * stride_c, 1, bias, 1, c + r * stride_c, n);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

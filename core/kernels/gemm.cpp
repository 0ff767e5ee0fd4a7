#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kBlasTaskWork = index_t{1} << 22;  // multiply-adds of one task that another library computes
constexpr index_t kMinBlasTask = 48;                 // rows or columns of such a task
constexpr index_t kMaxBlasTasks = 64;

constexpr index_t kKC = 256;                     // KC: a packed panel of B of this depth fits into the L1 cache
constexpr index_t kOwnTask = index_t{1} << 18;   // multiply-adds up to which a product stays on one thread
constexpr index_t kPackTask = index_t{1} << 14;  // elements of B that one task packs
constexpr index_t kHalvedElements = 1 << 19;     // elements of C up to which the sum over k may be split in two
constexpr index_t kBlockSide = 384;              // side of a square block of C that stays in the L2 cache
constexpr index_t kBlocksPerThread = 2;
constexpr index_t kFewRows = 128;       // rows of A up to which every thread reads all of A
constexpr index_t kAddTask = 1 << 14;   // elements of the second half that one task adds
constexpr index_t kTasksPerThread = 4;  // so that a late thread delays the others little

/// Rows begin.. of a [m, k], or columns begin.. of b [k, n].
MatrixView rows_from(MatrixView a, index_t begin) {
  a.data += a.transposed ? begin : begin * a.stride;
  return a;
}
MatrixView columns_from(MatrixView b, index_t begin) {
  b.data += b.transposed ? begin * b.stride : begin;
  return b;
}

/// Rows row to row + rows - 1 and columns first to first + depth - 1 of a transposed A, as they are stored.
PrefetchRegion region_of(MatrixView a, index_t row, index_t rows, index_t first, index_t depth) {
  return {a.data + first * a.stride + row, a.stride, depth, rows};
}

/// The size of the blocks along k: as equal as possible, none larger than kKC.
index_t block_depth(index_t k) {
  const index_t blocks = std::max<index_t>(1, (k + kKC - 1) / kKC);
  return std::max<index_t>(1, (k + blocks - 1) / blocks);
}

/// A product with k = 0: c *= beta, without reading c if beta is 0.
void scale_rows(index_t m, index_t n, real beta, real* c, index_t stride_c) {
  for (index_t r = 0; r < m; ++r) {
    if (beta == 0) fill(c + r * stride_c, 0, n);
    else scaled(c + r * stride_c, beta, c + r * stride_c, false, n);
  }
}

}  // namespace

PackedMatrix::PackedMatrix(MatrixView b, index_t k, index_t n)
    : k_(k), n_(n), depth_(block_depth(k)), panels_(isa().gemm.packed_size(k, n)) {
  const GemmTable& table = isa().gemm;
  const index_t panels = std::max<index_t>(1, kPackTask / std::max<index_t>(1, k) / table.nr);
  parallel_ranges(n, panels * table.nr, [&](index_t begin, index_t end) {
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

  /// Only the terms first to first + depth - 1 of each sum, added to the previous ones.
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

/// Computes p with the columns of the packed b from `column` on, a multiple of NR. `next` is the part of a transposed A
/// that is read afterwards.
void multiply_rows(const GemmProblem& p, const PackedMatrix& b, index_t column, PrefetchRegion next) {
  const GemmTable& table = isa().gemm;
  const Scratch<real> panel(p.a.transposed ? std::min(p.m, kMC) * std::min(p.k, b.depth_) : 0);
  for (index_t row = 0; row < p.m; row += kMC) {
    const index_t rows = std::min(kMC, p.m - row), next_rows = std::min(kMC, p.m - row - rows);
    for (index_t first = 0; first < p.k; first += b.depth_) {
      const index_t packed_depth = std::min(b.depth_, b.k_ - first), depth = std::min(packed_depth, p.k - first);
      const real* panels = b.panels_.data() + table.packed_size(first, b.n_) + table.packed_size(packed_depth, column);
      const GemmProblem part = p.over(first, depth).within(row, rows, 0, p.n);
      const PrefetchRegion after =
          next_rows == 0 || !p.a.transposed ? next : region_of(p.a, row + rows, next_rows, first, depth);
      table.block(rows, p.n, depth, p.alpha, part.a, {panels, packed_depth, b.n_ - column}, part.beta, part.bias,
                  part.c, p.stride_c, after, part.skip, panel.data());
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

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// How C is cut into blocks, at multiples of MR and NR. No sum depends on it, so it may depend on the number of
/// threads.
struct Partition {
  index_t row_panels, column_panels, row_blocks = 1, column_blocks = 1;

  Partition(index_t m, index_t n) : row_panels(ceil_div(m, isa().gemm.mr)), column_panels(ceil_div(n, isa().gemm.nr)) {}

  index_t blocks() const { return row_blocks * column_blocks; }
};

/// Rows row to row + rows - 1 and columns column to column + columns - 1 of C.
struct Block {
  index_t row, rows, column, columns;

  Block(const Partition& partition, index_t number, index_t m, index_t n) {
    const index_t i = number / partition.column_blocks, j = number % partition.column_blocks;
    row = i * partition.row_panels / partition.row_blocks * isa().gemm.mr;
    rows = std::min(m, (i + 1) * partition.row_panels / partition.row_blocks * isa().gemm.mr) - row;
    column = j * partition.column_panels / partition.column_blocks * isa().gemm.nr;
    columns = std::min(n, (j + 1) * partition.column_panels / partition.column_blocks * isa().gemm.nr) - column;
  }
};

/// The partition for threads that share packed B. Every block of columns reads A again and every block of rows reads B
/// again; rows are cut first, as blocks of at most MC rows are needed anyway.
Partition partition_for_shared_b(index_t m, index_t n) {
  Partition partition(m, n);
  const index_t workers = threads(), wanted = workers == 1 ? 1 : kTasksPerThread * workers;
  const index_t least = ceil_div(partition.row_panels, kMC / isa().gemm.mr);
  partition.row_blocks =
      std::max(least, std::min(partition.row_panels, ceil_div(std::max(least, wanted / 2), workers) * workers));
  partition.column_blocks = std::min(partition.column_panels, ceil_div(wanted, partition.row_blocks));
  return partition;
}

/// Computes p on the calling thread, which packs B itself, in blocks of `kc` along k.
void multiply_unpacked(const GemmProblem& p, index_t kc) {
  for (index_t first = 0; first < p.k; first += kc) {
    const index_t depth = std::min(kc, p.k - first), next = first + depth;
    const GemmProblem part = p.over(first, depth);
    const PrefetchRegion after =
        p.a.transposed ? region_of(p.a, 0, std::min(kMC, p.m), next, std::min(kc, p.k - next)) : PrefetchRegion{};
    multiply_rows(part, PackedMatrix(part.b, depth, p.n), 0, after);
  }
}

/// The partition for threads that each pack B, into at least `wanted` blocks if possible. A block of C stays in the L2
/// cache. Every block of columns reads all of A, every block of rows packs all of its B: columns are cut first.
Partition partition_for_private_b(index_t m, index_t n, index_t wanted) {
  Partition partition(m, n);
  partition.row_blocks = ceil_div(m, kBlockSide);
  const index_t columns = kBlockSide * kBlockSide / std::min(m, kBlockSide);
  partition.column_blocks =
      std::min(partition.column_panels, std::max(ceil_div(n, columns), ceil_div(wanted, partition.row_blocks)));
  partition.row_blocks =
      std::max(partition.row_blocks, std::min(partition.row_panels, ceil_div(wanted, partition.column_blocks)));
  return partition;
}

/// Whether the sum over k is split in two, so that for a small C the threads divide A and B by rows and each row is
/// read once. It depends on the shape alone, and so do the bits.
bool splits_k(const GemmProblem& p) { return p.a.transposed && p.k >= 4 * kKC && p.m * p.n <= kHalvedElements; }

/// A^T B over many rows, as for the gradient of a weight: no thread waits for others after each block along k.
void gemm_private_b(const GemmProblem& p) {
  const index_t kc = block_depth(p.k), halves = splits_k(p) ? 2 : 1, half = ceil_div(ceil_div(p.k, kc), halves) * kc;
  const Partition partition =
      partition_for_private_b(p.m, p.n, ceil_div(threads() == 1 ? 1 : kBlocksPerThread * threads(), halves));
  const Scratch<real> second(halves == 2 ? p.m * p.n : 0);
  parallel_for(halves * partition.blocks(), [&](index_t number) {
    const Block block(partition, number % partition.blocks(), p.m, p.n);
    GemmProblem mine = p;
    if (number < partition.blocks()) {
      mine.k = std::min(half, p.k);
    } else {
      mine = p.over(half, p.k - half);
      mine.beta = 0;
      mine.c = second.data();
      mine.stride_c = p.n;
    }
    multiply_unpacked(mine.within(block.row, block.rows, block.column, block.columns), kc);
  });
  if (halves == 1) return;
  parallel_ranges(p.m, std::max<index_t>(1, kAddTask / p.n), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      binary(Binary::add, p.c + r * p.stride_c, 1, second.data() + r * p.n, 1, p.c + r * p.stride_c, p.n);
  });
}

/// All threads pack a block of B along k together and share it, so that it stays in the L2 cache.
void gemm_shared_b(const GemmProblem& p, const Partition& partition) {
  const index_t kc = block_depth(p.k);
  for (index_t first = 0; first < p.k; first += kc) {
    const GemmProblem part = p.over(first, std::min(kc, p.k - first));
    const PackedMatrix packed(part.b, part.k, p.n);
    parallel_for(partition.blocks(), [&](index_t number) {
      const Block block(partition, number, p.m, p.n);
      multiply_rows(part.within(block.row, block.rows, block.column, block.columns), packed, block.column, {});
    });
  }
}

/// For an A of few rows: each thread packs its own columns of B and reads all of A.
void gemm_split_n(const GemmProblem& p) {
  Partition partition(p.m, p.n);
  partition.column_blocks = threads() == 1 ? 1 : std::min(partition.column_panels, kBlocksPerThread * threads());
  parallel_for(partition.blocks(), [&](index_t number) {
    const Block block(partition, number, p.m, p.n);
    multiply_unpacked(p.within(block.row, block.rows, block.column, block.columns), block_depth(p.k));
  });
}

/// Our own kernels.
void gemm_own(const GemmProblem& p) {
  if (p.m * p.n * p.k <= kOwnTask) return gemm_shared_b(p, Partition(p.m, p.n));
  if (p.a.transposed && p.k > kKC) return gemm_private_b(p);
  if (p.m <= kFewRows && p.n >= kBlocksPerThread * threads() * isa().gemm.nr) return gemm_split_n(p);
  gemm_shared_b(p, partition_for_shared_b(p.m, p.n));
}

/// Another library, in tasks along the longer side of C.
void parallel_blas_gemm(index_t m, index_t n, index_t k, real alpha, MatrixView a, MatrixView b, real beta, real* c,
                        index_t stride_c) {
  const bool by_rows = m >= n;
  const index_t side = by_rows ? m : n;
  index_t tasks = std::clamp(m * n * k / kBlasTaskWork, index_t{1}, std::min(kMaxBlasTasks, side / kMinBlasTask + 1));
  if (tasks > 1) tasks += tasks % 2;
  const index_t grain = (((side + tasks - 1) / tasks + 15) / 16) * 16;
  parallel_ranges(side, grain, [&](index_t begin, index_t end) {
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
  if (k > 0) parallel_blas_gemm(m, n, k, alpha, a, b, beta, c, stride_c);
  else scale_rows(m, n, beta, c, stride_c);
  for (index_t r = 0; bias && r < m; ++r) binary(Binary::add, c + r * stride_c, 1, bias, 1, c + r * stride_c, n);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

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
void scale_rows(GemmShape shape, real beta, MatrixOut c) {
  for (index_t r = 0; r < shape.m; ++r) {
    real* row = c.data + r * c.stride;
    if (beta == 0) fill(row, 0, shape.n);
    else scaled(row, beta, {row}, shape.n);
  }
}

/// Adds x [n] to row r of c.
void add_row(const real* x, index_t n, MatrixOut c, index_t r) {
  real* row = c.data + r * c.stride;
  binary(Binary::add, row, 1, x, 1, row, n);
}

/// Rows row to row + rows - 1 and columns column to column + columns - 1 of C.
struct Block {
  index_t row, rows, column, columns;
};

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

struct GemmProblem {
  GemmShape shape;
  MatrixView a, b;
  MatrixOut c;
  Epilogue epilogue;
  CausalSkip skip;

  /// Only the terms first to first + depth - 1 of each sum, added to the previous ones.
  GemmProblem over(index_t first, index_t depth) const {
    GemmProblem part = *this;
    part.shape.k = depth;
    part.a = columns_from(a, first);
    part.b = rows_from(b, first);
    if (first > 0) part.epilogue.beta = 1, part.epilogue.bias = nullptr;
    if (skip.operand == CausalSkip::Operand::a) part.skip.first -= first;
    if (skip.operand == CausalSkip::Operand::transposed_a) part.skip.first += first;
    return part;
  }

  GemmProblem within(Block block) const {
    const auto [row, rows, column, columns] = block;
    GemmProblem part = *this;
    part.shape.m = rows;
    part.shape.n = columns;
    part.a = rows_from(a, row);
    part.b = columns_from(b, column);
    part.c.data += row * c.stride + column;
    part.epilogue.bias = offset_pointer(epilogue.bias, column);
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
  const auto [m, n, k] = p.shape;
  const Scratch<real> panel(p.a.transposed ? std::min(m, kMC) * std::min(k, b.depth_) : 0);
  for (index_t row = 0; row < m; row += kMC) {
    const index_t rows = std::min(kMC, m - row), next_rows = std::min(kMC, m - row - rows);
    for (index_t first = 0; first < k; first += b.depth_) {
      const index_t packed_depth = std::min(b.depth_, b.k_ - first), depth = std::min(packed_depth, k - first);
      const real* panels = b.panels_.data() + table.packed_size(first, b.n_) + table.packed_size(packed_depth, column);
      const GemmProblem part = p.over(first, depth).within({row, rows, 0, n});
      const PrefetchRegion after =
          next_rows == 0 || !p.a.transposed ? next : region_of(p.a, row + rows, next_rows, first, depth);
      table.block({part.shape,
                   part.a,
                   {panels, packed_depth, b.n_ - column},
                   part.c,
                   part.epilogue,
                   part.skip,
                   after,
                   panel.data()});
    }
  }
}

void gemm(GemmShape shape, MatrixView a, const PackedMatrix& b, MatrixOut c, Epilogue epilogue, CausalSkip skip) {
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) return scale_rows(shape, epilogue.beta, c);
  multiply_rows({shape, a, {}, c, epilogue, skip}, b, 0, {});
}

namespace {

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// How C is cut into blocks, at multiples of MR and NR. No sum depends on it, so it may depend on the number of
/// threads.
struct Partition {
  index_t row_panels, column_panels, row_blocks = 1, column_blocks = 1;

  explicit Partition(GemmShape shape)
      : row_panels(ceil_div(shape.m, isa().gemm.mr)), column_panels(ceil_div(shape.n, isa().gemm.nr)) {}

  index_t blocks() const { return row_blocks * column_blocks; }

  Block block(index_t number, GemmShape shape) const {
    const auto row = [&](index_t i) { return std::min(shape.m, i * row_panels / row_blocks * isa().gemm.mr); };
    const auto column = [&](index_t j) { return std::min(shape.n, j * column_panels / column_blocks * isa().gemm.nr); };
    const index_t i = number / column_blocks, j = number % column_blocks;
    return {row(i), row(i + 1) - row(i), column(j), column(j + 1) - column(j)};
  }
};

/// The partition for threads that share packed B. Every block of columns reads A again and every block of rows reads B
/// again; rows are cut first, as blocks of at most MC rows are needed anyway.
Partition partition_for_shared_b(GemmShape shape) {
  Partition partition(shape);
  const index_t workers = threads(), wanted = workers == 1 ? 1 : kTasksPerThread * workers;
  const index_t least = ceil_div(partition.row_panels, kMC / isa().gemm.mr);
  partition.row_blocks =
      std::max(least, std::min(partition.row_panels, ceil_div(std::max(least, wanted / 2), workers) * workers));
  partition.column_blocks = std::min(partition.column_panels, ceil_div(wanted, partition.row_blocks));
  return partition;
}

/// Computes p on the calling thread, which packs B itself, in blocks of `kc` along k.
void multiply_unpacked(const GemmProblem& p, index_t kc) {
  const auto [m, n, k] = p.shape;
  for (index_t first = 0; first < k; first += kc) {
    const index_t depth = std::min(kc, k - first), next = first + depth;
    const GemmProblem part = p.over(first, depth);
    const PrefetchRegion after =
        p.a.transposed ? region_of(p.a, 0, std::min(kMC, m), next, std::min(kc, k - next)) : PrefetchRegion{};
    multiply_rows(part, PackedMatrix(part.b, depth, n), 0, after);
  }
}

/// The partition for threads that each pack B, into at least `wanted` blocks if possible. A block of C stays in the L2
/// cache. Every block of columns reads all of A, every block of rows packs all of its B: columns are cut first.
Partition partition_for_private_b(GemmShape shape, index_t wanted) {
  Partition partition(shape);
  partition.row_blocks = ceil_div(shape.m, kBlockSide);
  const index_t columns = kBlockSide * kBlockSide / std::min(shape.m, kBlockSide);
  partition.column_blocks =
      std::min(partition.column_panels, std::max(ceil_div(shape.n, columns), ceil_div(wanted, partition.row_blocks)));
  partition.row_blocks =
      std::max(partition.row_blocks, std::min(partition.row_panels, ceil_div(wanted, partition.column_blocks)));
  return partition;
}

/// Whether the sum over k is split in two, so that for a small C the threads divide A and B by rows and each row is
/// read once. It depends on the shape alone, and so do the bits.
bool splits_k(const GemmProblem& p) {
  return p.a.transposed && p.shape.k >= 4 * kKC && p.shape.m * p.shape.n <= kHalvedElements;
}

/// A^T B over many rows, as for the gradient of a weight: no thread waits for others after each block along k.
void gemm_private_b(const GemmProblem& p) {
  const index_t m = p.shape.m, n = p.shape.n, k = p.shape.k;
  const index_t kc = block_depth(k), halves = splits_k(p) ? 2 : 1, half = ceil_div(ceil_div(k, kc), halves) * kc;
  const Partition partition =
      partition_for_private_b(p.shape, ceil_div(threads() == 1 ? 1 : kBlocksPerThread * threads(), halves));
  const Scratch<real> second(halves == 2 ? m * n : 0);
  parallel_for(halves * partition.blocks(), [&](index_t number) {
    GemmProblem mine = p;
    if (number < partition.blocks()) {
      mine.shape.k = std::min(half, k);
    } else {
      mine = p.over(half, k - half);
      mine.epilogue.beta = 0;
      mine.c = {second.data(), n};
    }
    multiply_unpacked(mine.within(partition.block(number % partition.blocks(), p.shape)), kc);
  });
  if (halves == 1) return;
  parallel_ranges(m, rows_per_task(n), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) add_row(second.data() + r * n, n, p.c, r);
  });
}

/// All threads pack a block of B along k together and share it, so that it stays in the L2 cache.
void gemm_shared_b(const GemmProblem& p, const Partition& partition) {
  const index_t k = p.shape.k, kc = block_depth(k);
  for (index_t first = 0; first < k; first += kc) {
    const GemmProblem part = p.over(first, std::min(kc, k - first));
    const PackedMatrix packed(part.b, part.shape.k, p.shape.n);
    parallel_for(partition.blocks(), [&](index_t number) {
      const Block block = partition.block(number, p.shape);
      multiply_rows(part.within(block), packed, block.column, {});
    });
  }
}

/// For an A of few rows: each thread packs its own columns of B and reads all of A.
void gemm_split_n(const GemmProblem& p) {
  Partition partition(p.shape);
  partition.column_blocks = threads() == 1 ? 1 : std::min(partition.column_panels, kBlocksPerThread * threads());
  parallel_for(partition.blocks(), [&](index_t number) {
    multiply_unpacked(p.within(partition.block(number, p.shape)), block_depth(p.shape.k));
  });
}

/// Our own kernels.
void gemm_own(const GemmProblem& p) {
  const auto [m, n, k] = p.shape;
  if (m * n * k <= kOwnTask) return gemm_shared_b(p, Partition(p.shape));
  if (p.a.transposed && k > kKC) return gemm_private_b(p);
  if (m <= kFewRows && n >= kBlocksPerThread * threads() * isa().gemm.nr) return gemm_split_n(p);
  gemm_shared_b(p, partition_for_shared_b(p.shape));
}

/// Another library, in tasks along the longer side of C.
void parallel_blas_gemm(const GemmProblem& p) {
  const auto [m, n, k] = p.shape;
  const bool by_rows = m >= n;
  const index_t side = by_rows ? m : n;
  index_t tasks = std::clamp(m * n * k / kBlasTaskWork, index_t{1}, std::min(kMaxBlasTasks, side / kMinBlasTask + 1));
  if (tasks > 1) tasks += tasks % 2;
  const index_t grain = (((side + tasks - 1) / tasks + 15) / 16) * 16;
  parallel_ranges(side, grain, [&](index_t begin, index_t end) {
    const GemmProblem part =
        p.within(by_rows ? Block{begin, end - begin, 0, p.shape.n} : Block{0, p.shape.m, begin, end - begin});
    blas_gemm(part.shape, part.a, part.b, part.c, part.epilogue);
  });
}

}  // namespace

void gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue, CausalSkip skip) {
  if (shape.m == 0 || shape.n == 0) return;
  const GemmProblem problem{shape, a, b, c, epilogue, skip};
  if (shape.k > 0 && gemm_backend() == GemmBackend::own) return gemm_own(problem);
  if (shape.k > 0) parallel_blas_gemm(problem);
  else scale_rows(shape, epilogue.beta, c);
  for (index_t r = 0; epilogue.bias && r < shape.m; ++r) add_row(epilogue.bias, shape.n, c, r);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

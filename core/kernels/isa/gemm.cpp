// The inner loops of gemm: a tile of C stays in registers while a panel of A and a packed panel of B are read (Goto and
// van de Geijn 2008).
#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/registers.hpp>

// MR x NR is the tile of C that fits into the registers; AVX-512 has twice as many of them.
constexpr int kMR = kBytes == 64 ? 12 : (kBytes == 32 ? 6 : 4);
constexpr index_t kNR = 2 * kWidth;
constexpr index_t kLine = 64 / sizeof(real);  // elements of a cache line
constexpr index_t kAhead = 12;   // rows to prefetch ahead: the hardware prefetcher does not follow large strides
constexpr index_t kStep = 4;     // rows of B between two prefetches of a tile
constexpr index_t kNear = 1024;  // rows this far apart map to few sets of the L1 cache
constexpr index_t kMaxPanels = kMC / kMR;

/// c = alpha * a b + beta * c, plus `bias` (or null) in every row, for one tile of `rows` x (vectors * kWidth), of
/// which the first `columns` are stored. Stored rows of a are `stride` apart. `transposed`: a is transposed, and its
/// stored columns are the rows of the tile; if not, as many rows from `next` on are prefetched for the next tile. The
/// arguments are scalars on purpose. A struct is passed in memory, and loading it stalls behind the stores of the
/// previous tile: blocks of 1 to 96 rows took 1 to 36 % longer, and up to 2 % by reference.
template <int rows, int vectors, bool transposed>
void tile(index_t k, const real* a, index_t stride, [[maybe_unused]] const real* next, const real* b, real alpha,
          real beta, const real* bias, real* c, index_t stride_c, index_t columns) {
  Vector sum[rows][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) sum[i][j] = Vector{};  // not {} for the whole array: that goes through memory
  }
  const auto step = [&]() __attribute__((always_inline)) {
    if constexpr (transposed) __builtin_prefetch(a + kAhead * stride);
    Vector right[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) right[j] = load(b + j * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector left = a[transposed ? i : i * stride] - Vector{};
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sum[i][j] += left * right[j];
    }
    a += transposed ? stride : 1;
    b += vectors * kWidth;
  };
  index_t p = 0;
  for (; p + kStep <= k; p += kStep) {  // prefetch a few lines at a time: few can be outstanding
    if (const index_t row = p / kStep; row < rows)
      for (int j = 0; j < vectors; ++j) __builtin_prefetch(c + row * stride_c + j * kWidth, 1);
    if constexpr (!transposed) {
      constexpr int share = (rows * kStep + kLine - 1) / kLine;
      const real* from = next + p / kLine * kLine + p % kLine / kStep * share * stride;
#pragma GCC unroll 16
      for (int i = 0; i < share; ++i) __builtin_prefetch(from + i * stride);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kStep; ++i) step();
  }
  for (; p < k; ++p) step();
  if (columns == vectors * kWidth) {
    Vector base[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) base[j] = bias ? load(bias + j * kWidth) : Vector{};
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) {
        real* to = c + i * stride_c + j * kWidth;
        store(to, beta == 0 ? alpha * sum[i][j] + base[j] : alpha * sum[i][j] + base[j] + beta * load(to));
      }
    }
    return;
  }
  real edge[rows * vectors * kWidth];  // indexing `sum` by a variable would keep it in memory in every tile
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) store(edge + (i * vectors + j) * kWidth, sum[i][j]);
  }
  for (int i = 0; i < rows; ++i) {
    for (index_t j = 0; j < columns; ++j) {
      real& to = c[i * stride_c + j];
      const real value = alpha * edge[i * vectors * kWidth + j] + (bias ? bias[j] : 0);
      to = beta == 0 ? value : value + beta * to;
    }
  }
}

/// Copies `rows` columns of k rows of the stored matrix to contiguous rows.
template <int rows>
void copy_transposed(const real* a, index_t stride, index_t k, real* to) {
  for (index_t p = 0; p < k; ++p) {
    __builtin_prefetch(a + (p + kAhead) * stride);
    __builtin_memcpy(to + p * rows, a + p * stride, rows * sizeof(real));
  }
}

using Tile = void (*)(index_t, const real*, index_t, const real*, const real*, real, real, const real*, real*, index_t,
                      index_t);
using Copy = void (*)(const real*, index_t, index_t, real*);

/// The functions for each number of rows that a tile can have.
template <int... less_1>
struct ForRows {
  template <int vectors, bool transposed>
  static constexpr Tile tiles[] = {tile<less_1 + 1, vectors, transposed>...};
  static constexpr Copy copies[] = {copy_transposed<less_1 + 1>...};
};
#if defined(__AVX512F__)
using Rows = ForRows<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>;
#elif defined(__AVX2__)
using Rows = ForRows<0, 1, 2, 3, 4, 5>;
#else
using Rows = ForRows<0, 1, 2, 3>;
#endif

/// One panel of a transposed B, [k, width]; columns from `columns` on are zero.
void pack_transposed(MatrixView b, index_t k, index_t columns, index_t width, real* to) {
  index_t j = 0;
  for (; j + kWidth <= columns; j += kWidth) {
    index_t p = 0;
    for (; p + kWidth <= k; p += kWidth)
      transpose_square(b.data + j * b.stride + p, b.stride, to + p * width + j, width);
    for (; p < k; ++p)
      for (index_t e = 0; e < kWidth; ++e) to[p * width + j + e] = b.data[(j + e) * b.stride + p];
  }
  for (; j < width; ++j)
    for (index_t p = 0; p < k; ++p) to[p * width + j] = j < columns ? b.data[j * b.stride + p] : 0;
}

/// Stored columns of a panel: two vectors, or one if that is enough.
index_t panel_width(index_t columns) { return columns > kWidth ? kNR : kWidth; }

/// Packs b [k, n] into panels, one after the other, of packed_size(k, n) elements in all. Each row of b is read as a
/// whole, in the order of memory.
void pack_b(MatrixView b, index_t k, index_t n, real* to) {
  const index_t whole = n / kNR * kNR, rest = n - whole, width = panel_width(rest);
  if (b.transposed) {
    for (index_t j = 0; j < n; j += kNR)
      pack_transposed({b.data + j * b.stride, b.stride}, k, j < whole ? kNR : rest, j < whole ? kNR : width,
                      to + j * k);
    return;
  }
  for (index_t p = 0; p < k; ++p) {
    const real* row = b.data + p * b.stride;
    for (index_t j = 0; j < whole; j += kNR) __builtin_memcpy(to + j * k + p * kNR, row + j, kNR * sizeof(real));
    if (rest == 0) continue;
    real* last = to + whole * k + p * width;
    for (index_t j = 0; j < width; ++j) last[j] = j < rest ? row[whole + j] : 0;
  }
}

/// The panels of a block of m rows, as equal as possible.
struct Panels {
  index_t count, begin[kMaxPanels + 1];

  explicit Panels(index_t m) : count((m + kMR - 1) / kMR) {
    for (index_t panel = 0; panel <= count; ++panel) begin[panel] = m * panel / count;
  }
  index_t rows(index_t panel) const { return begin[panel + 1] - begin[panel]; }
};

/// Prefetches part `part` of `parts` parts of the rows into the L2 cache.
void prefetch(const PrefetchRegion& region, index_t part, index_t parts) {
  for (index_t row = region.rows * part / parts; row < region.rows * (part + 1) / parts; ++row)
    for (index_t i = 0; i < region.columns; i += kLine) __builtin_prefetch(region.data + row * region.stride + i, 0, 2);
}

/// What CausalSkip leaves of a tile: the rows begin to end - 1 of b for rows row to row + rows - 1 of c, and whether
/// any column of c from `column` on is needed.
struct Needed {
  index_t begin = 0, end;
  bool any = true;

  Needed(CausalSkip skip, index_t k, index_t row, index_t rows, index_t column) : end(k) {
    const index_t last = skip.first + row + rows - 1;  // columns that the last row uses
    if (skip.operand == CausalSkip::Operand::c) any = column < last;
    else if (skip.operand == CausalSkip::Operand::a) end = last < 0 ? 0 : last < k ? last : k;
    else if (skip.operand == CausalSkip::Operand::transposed_a && row >= skip.first) {
      begin = row - skip.first + 1;  // the first row that uses this column
      if (begin > k) begin = k;
    }
  }
};

/// `transposed`: a is transposed. If its rows are far apart, each panel is copied to `scratch` [m, k] when it is first
/// needed, and a part of `next` is prefetched before each tile: all at once would stall the tile.
template <bool transposed>
void block_of(const GemmBlock& block) {
  const auto [m, n, k] = block.shape;
  const auto [alpha, beta, bias] = block.epilogue;
  const MatrixView a = block.a;
  const MatrixOut c = block.c;
  const real* packed = block.b.data;
  const Panels panels(m);
  [[maybe_unused]] const index_t tiles = (n + kNR - 1) / kNR * panels.count;
  [[maybe_unused]] index_t tile_number = 0;
  const bool copied = transposed && a.stride > kNear && n > kNR;
  for (index_t j = 0; j < n; j += kNR) {
    const index_t columns = n - j < kNR ? n - j : kNR;
    const index_t width = panel_width(block.b.columns - j);
    for (index_t panel = 0; panel < panels.count; ++panel) {
      const index_t begin = panels.begin[panel], rows = panels.rows(panel);
      const Needed needed(block.skip, k, begin, rows, j);
      if (!needed.any) continue;
      const Tile run = (width == kNR ? Rows::tiles<2, transposed> : Rows::tiles<1, transposed>)[rows - 1];
      if constexpr (transposed) prefetch(block.next, tile_number++, tiles);
      const real* left = a.data + (transposed ? begin : begin * a.stride);
      if (copied && j == 0) Rows::copies[rows - 1](left, a.stride, k, block.scratch + begin * k);
      if (copied) left = block.scratch + begin * k;
      const index_t stride = copied ? rows : a.stride;
      const real* soon = a.data + (panel + 1 < panels.count ? begin + rows : 0) * a.stride;
      run(needed.end - needed.begin, left + (transposed ? needed.begin * stride : needed.begin), stride, soon,
          packed + needed.begin * width, alpha, beta, bias ? bias + j : nullptr, c.data + begin * c.stride + j,
          c.stride, columns);
    }
    packed += block.b.depth * width;
  }
}

/// Uses the first k rows and n columns of the packed b. A panel of B stays in the L1 cache while all of A is read.
void block(const GemmBlock& block) {
  if (block.a.transposed) block_of<true>(block);
  else block_of<false>(block);
}

index_t packed_size(index_t k, index_t n) {
  const index_t rest = n % kNR;
  return k * (n - rest + (rest ? panel_width(rest) : 0));
}

}  // namespace

const GemmTable gemm_table = {kMR, kNR, packed_size, pack_b, block};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

// The inner loops of the matrix product: a tile of C is held in registers while a panel of A and a packed panel of B
// stream past (Goto and van de Geijn 2008).
#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/registers.hpp>

// Rows of C that fit with two vectors each into the registers, of which the widest instruction set has twice as many.
constexpr int kMR = kBytes == 64 ? 12 : (kBytes == 32 ? 6 : 4);
constexpr index_t kNR = 2 * kWidth;
constexpr index_t kLine = 64 / sizeof(real);  // elements of a line of a cache
constexpr index_t kAhead = 12;   // rows of a stored matrix to fetch: the processor does not foresee wide steps
constexpr index_t kStep = 4;     // rows of B between two fetches of a tile
constexpr index_t kNear = 1024;  // rows so far apart fall into few sets of the first cache
constexpr index_t kMaxPanels = kMC / kMR;

/// c = alpha a b + beta c, plus `bias` (or null) to every row, for one tile of `rows` x (vectors * kWidth), of which
/// the first `columns` are stored. Rows of the stored a are `stride` apart; `across`: a is transposed, and its stored
/// columns are the rows of the tile; if not, as many rows from `next` on are fetched for the tile after this one.
/// (Numbers by themselves: a struct of them passes through memory, where reading it waits until the stores of the tile
/// before have left.)
template <int rows, int vectors, bool across>
void tile(index_t k, const real* a, index_t stride, [[maybe_unused]] const real* next, const real* b, real alpha,
          real beta, const real* bias, real* c, index_t stride_c, index_t columns) {
  Vector sum[rows][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) sum[i][j] = Vector{};  // not {} for all: that writes them to memory first
  }
  const auto step = [&]() __attribute__((always_inline)) {
    if constexpr (across) __builtin_prefetch(a + kAhead * stride);
    Vector right[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) right[j] = load(b + j * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector left = a[across ? i : i * stride] - Vector{};
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sum[i][j] += left * right[j];
    }
    a += across ? stride : 1;
    b += vectors * kWidth;
  };
  index_t p = 0;
  for (; p + kStep <= k; p += kStep) {  // a few lines are fetched at a time, as the processor can wait for few
    if (const index_t row = p / kStep; row < rows)
      for (int j = 0; j < vectors; ++j) __builtin_prefetch(c + row * stride_c + j * kWidth, 1);
    if constexpr (!across) {
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
  real edge[rows * vectors * kWidth];  // not the sums by index: they would live in memory in every tile
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

/// Copies `rows` columns of the stored matrix, k of its rows long, one after the other.
template <int rows>
void copy_across(const real* a, index_t stride, index_t k, real* to) {
  for (index_t p = 0; p < k; ++p) {
    __builtin_prefetch(a + (p + kAhead) * stride);
    __builtin_memcpy(to + p * rows, a + p * stride, rows * sizeof(real));
  }
}

using Tile = void (*)(index_t, const real*, index_t, const real*, const real*, real, real, const real*, real*, index_t,
                      index_t);
using Copy = void (*)(const real*, index_t, index_t, real*);

/// What there is for each number of rows that a tile can have.
template <int... less_1>
struct ForRows {
  template <int vectors, bool across>
  static constexpr Tile tiles[] = {tile<less_1 + 1, vectors, across>...};
  static constexpr Copy copies[] = {copy_across<less_1 + 1>...};
};
#if defined(__AVX512F__)
using Rows = ForRows<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>;
#elif defined(__AVX2__)
using Rows = ForRows<0, 1, 2, 3, 4, 5>;
#else
using Rows = ForRows<0, 1, 2, 3>;
#endif

/// One panel of a transposed B, [k, width] with the last columns zero past `columns`.
void pack_across(MatrixView b, index_t k, index_t columns, index_t width, real* to) {
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

/// Columns of a panel as stored: two vectors, or one if that is enough.
index_t panel_width(index_t columns) { return columns > kWidth ? kNR : kWidth; }

/// Packs columns of b [k, n] into panels one after the other; the packed length is packed_size(k, n). Each row of b is
/// read whole, as it lies in memory.
void pack_b(MatrixView b, index_t k, index_t n, real* to) {
  const index_t whole = n / kNR * kNR, rest = n - whole, width = panel_width(rest);
  if (b.transposed) {
    for (index_t j = 0; j < n; j += kNR)
      pack_across({b.data + j * b.stride, b.stride}, k, j < whole ? kNR : rest, j < whole ? kNR : width, to + j * k);
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

/// The panels that a block of m rows is cut into, as even as can be.
struct Panels {
  index_t count, begin[kMaxPanels + 1];

  explicit Panels(index_t m) : count((m + kMR - 1) / kMR) {
    for (index_t panel = 0; panel <= count; ++panel) begin[panel] = m * panel / count;
  }
  index_t rows(index_t panel) const { return begin[panel + 1] - begin[panel]; }
};

/// Fetches the given one of `parts` parts of the rows into the second cache.
void fetch(const PrefetchRegion& region, index_t part, index_t parts) {
  for (index_t row = region.rows * part / parts; row < region.rows * (part + 1) / parts; ++row)
    for (index_t i = 0; i < region.columns; i += kLine) __builtin_prefetch(region.data + row * region.stride + i, 0, 2);
}

/// The rows of b, begin to end - 1 of k, that count for rows row to row + rows - 1 of c, and whether any of its columns
/// from `column` on are needed.
struct Needed {
  index_t begin = 0, end;
  bool any = true;

  Needed(CausalSkip skip, index_t k, index_t row, index_t rows, index_t column) : end(k) {
    const index_t last = skip.first + row + rows - 1;  // columns that the last row has
    if (skip.operand == CausalSkip::Operand::c) any = column < last;
    else if (skip.operand == CausalSkip::Operand::a) end = last < 0 ? 0 : last < k ? last : k;
    else if (skip.operand == CausalSkip::Operand::transposed_a && row >= skip.first) {
      begin = row - skip.first + 1;  // the first row that has this column
      if (begin > k) begin = k;
    }
  }
};

/// `across`: a is transposed; if its rows are far apart, each panel is copied to `scratch` [m, k] when it is first
/// needed, and `next` is fetched meanwhile, a little before each tile: all at once would keep the tile waiting.
template <bool across>
void block_of(index_t m, index_t n, index_t k, real alpha, MatrixView a, PackedPanels b, real beta, const real* bias,
              real* c, index_t stride_c, PrefetchRegion next, CausalSkip skip, [[maybe_unused]] real* scratch) {
  const Panels panels(m);
  [[maybe_unused]] const index_t tiles = (n + kNR - 1) / kNR * panels.count;
  [[maybe_unused]] index_t tile_number = 0;
  const bool copied = across && a.stride > kNear && n > kNR;
  for (index_t j = 0; j < n; j += kNR) {
    const index_t columns = n - j < kNR ? n - j : kNR;
    const index_t width = panel_width(b.columns - j);
    for (index_t panel = 0; panel < panels.count; ++panel) {
      const index_t begin = panels.begin[panel], rows = panels.rows(panel);
      const Needed needed(skip, k, begin, rows, j);
      if (!needed.any) continue;
      const Tile run = (width == kNR ? Rows::tiles<2, across> : Rows::tiles<1, across>)[rows - 1];
      if constexpr (across) fetch(next, tile_number++, tiles);
      const real* left = a.data + (across ? begin : begin * a.stride);
      if (copied && j == 0) Rows::copies[rows - 1](left, a.stride, k, scratch + begin * k);
      if (copied) left = scratch + begin * k;
      const index_t stride = copied ? rows : a.stride;
      const real* soon = a.data + (panel + 1 < panels.count ? begin + rows : 0) * a.stride;
      run(needed.end - needed.begin, left + (across ? needed.begin * stride : needed.begin), stride, soon,
          b.data + needed.begin * width, alpha, beta, bias ? bias + j : nullptr, c + begin * stride_c + j, stride_c,
          columns);
    }
    b.data += b.depth * width;
  }
}

/// c [m, n] = alpha a b + beta c + bias with the first k rows and n columns of the packed b. A panel of B stays in the
/// first cache while all of A passes.
void block(index_t m, index_t n, index_t k, real alpha, MatrixView a, PackedPanels b, real beta, const real* bias,
           real* c, index_t stride_c, PrefetchRegion next, CausalSkip skip, real* scratch) {
  if (a.transposed) block_of<true>(m, n, k, alpha, a, b, beta, bias, c, stride_c, next, skip, scratch);
  else block_of<false>(m, n, k, alpha, a, b, beta, bias, c, stride_c, next, skip, scratch);
}

index_t packed_size(index_t k, index_t n) {
  const index_t rest = n % kNR;
  return k * (n - rest + (rest ? panel_width(rest) : 0));
}

}  // namespace

extern const GemmTable gemm_table;
const GemmTable gemm_table = {kMR, kNR, packed_size, pack_b, block};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

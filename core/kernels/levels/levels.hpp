// Kernels that are compiled once per instruction set. Each level fills one table; the best one that the processor can
// run is chosen at the first call.
//
// The files *_level.cpp are compiled for every level into the namespace XTAPE_LEVEL. They define no symbol that the
// linker could share with other files (no standard-library templates, nothing inline outside an unnamed namespace):
// a copy compiled for a newer processor must never be the one that everybody calls.
#pragma once

#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/gemm.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

struct ElementwiseTable {
  void (*unary)(Unary, const real* x, real* y, index_t n);
  void (*unary_with_slope)(Unary, const real* x, real* y, real* slope, index_t n);
  void (*unary_backward)(Unary, const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t n);
  void (*binary)(Binary, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);
  void (*affine)(const real* x, real scale, real shift, real* y, index_t n);
  void (*scaled)(const real* x, real scale, real* y, bool accumulate, index_t n);
  void (*product)(const real* a, const real* b, real scale, real* y, bool accumulate, index_t n);
  void (*select_scaled)(const real* x, const std::uint8_t* keep, real scale, real* y, bool accumulate, index_t n);
};

struct ReduceTable {
  double (*sum)(const real* x, index_t n);
  double (*sum_of_squares)(const real* x, index_t n);
  double (*dot)(const real* x, const real* y, index_t n);
  bool (*all_finite)(const real* x, index_t n);
  void (*column_sums)(const real* x, index_t rows, index_t columns, index_t stride, real* out);  // out is overwritten
};

struct SoftmaxTable {
  real (*max)(const real* x, index_t n);
  real (*softmax)(const real* x, real* y, index_t n);  // returns log(sum(exp(x)))
  void (*softmax_backward)(const real* y, const real* dy, real* dx, bool accumulate, index_t n);
  void (*log_softmax_backward)(const real* y, const real* dy, real* dx, bool accumulate, index_t n);
  real (*log_sum_exp)(const real* x, index_t n);
  void (*score_slopes)(const real* weights, real mean, real scale, real* slopes, index_t n);
  void (*exp_shifted)(const real* x, real shift, real scale, real* y, bool accumulate, index_t n);
};

struct NormTable {
  void (*layer_norm)(const real* x, const real* gain, const real* bias, real eps, real* y, double* mean, real* inverse,
                     index_t width);
  void (*layer_norm_backward)(const real* x, const real* gain, double mean, real inverse, const real* dy, real* dx,
                              bool accumulate, index_t width);
  void (*layer_norm_gain)(const real* x, const double* mean, const real* inverse, const real* dy, index_t rows,
                          index_t width, real* dgain, real* dbias);
};

/// One pass over a parameter; see kernels/optimize.hpp for the meaning.
struct AdamNumbers;
struct MomentumNumbers;
struct OptimizeTable {
  double (*adam)(const AdamNumbers&, const real* gradient, real* value, real* first, real* second, index_t n);
  double (*momentum)(const MomentumNumbers&, const real* gradient, real* value, real* velocity, index_t n);
};

/// Rows of C that one call of GemmTable::block computes at most: a multiple of every level's tile.
constexpr index_t kGemmRows = 96;
constexpr index_t kGemmSlack = 16;  ///< elements that packing may write past the end

/// A packed right-hand factor, `depth` x `columns`, as GemmTable::pack_b left it.
struct PackedPanels {
  const real* data;
  index_t depth, columns;
};

/// The inner loops of the matrix product.
struct GemmTable {
  index_t tile_columns;
  index_t (*packed_size)(index_t k, index_t n);
  void (*pack_b)(Factor b, index_t k, index_t n, real* packed);
  void (*block)(index_t m, index_t n, index_t k, real alpha, Factor a, PackedPanels b, real beta, real* c,
                index_t stride_c, real* scratch);
};

struct Level {
  const char* name;
  const ElementwiseTable& elementwise;
  const ReduceTable& reduce;
  const SoftmaxTable& softmax;
  const NormTable& norm;
  const OptimizeTable& optimize;
  const GemmTable& gemm;
};

/// The level in use: the best that the processor offers, or the one named by XTAPE_ISA (plain, v3, v4).
const Level& level();

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels

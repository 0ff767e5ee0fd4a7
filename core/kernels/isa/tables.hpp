// The loops that are compiled once per instruction set, as tables of function pointers: one table for each family of
// kernels. kernels/isa.hpp chooses the instruction set.
//
// The .cpp files here are compiled for every instruction set into the namespace XTAPE_ISA_NAMESPACE. They define no
// symbol that the linker could merge with one of another file (no standard-library templates, nothing inline outside an
// unnamed namespace): a copy compiled for a newer processor must not replace the one that all code calls. For the same
// reason they include only core/config.hpp and headers of this folder.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

// Steps are 0 or 1.

struct UnaryTable {
  void (*value)(Unary, Constants, const real* x, real* y, index_t n);
  void (*value_and_derivative)(Unary, Constants, const real* x, real* y, real* derivative, index_t n);
  void (*backward)(Unary, Constants, const real* x, const real* y, const real* dy, Output dx, index_t n);
};

struct ArithmeticTable {
  void (*binary)(Binary, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);
  void (*affine)(const real* x, real scale, real shift, real* y, index_t n);
  void (*scaled)(const real* x, real scale, Output y, index_t n);
  void (*product)(const real* a, const real* b, real scale, Output y, index_t n);
};

struct MaskTable {
  void (*compare)(Compare, const real* a, index_t step_a, const real* b, index_t step_b, bool* mask, index_t n);
  void (*select)(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);
  void (*select_or_zero)(const bool* mask, bool when, const real* x, Output y, index_t n);
  void (*select_scaled)(const real* x, const std::uint8_t* keep, real scale, Output y, index_t n);
};

struct ReduceTable {
  double (*sum)(const real* x, index_t n);
  double (*sum_of_squares)(const real* x, index_t n);
  real (*largest_magnitude)(const real* x, index_t n);
  double (*dot)(const real* x, const real* y, index_t n);
  bool (*all_finite)(const real* x, index_t n);
  void (*column_sums)(const real* x, index_t rows, index_t columns, index_t stride, real* out);  // out is overwritten
  real (*extreme)(const real* x, index_t n, bool largest);
  void (*max_min_backward_row)(const real* x, real y, real dy, Output dx, index_t n);
  void (*moments)(const real* x, index_t n, double* mean, double* squares);
  void (*subtract_mean)(const real* x, double mean, double scale, Output dx, index_t n);
  void (*count_tails)(const real* x, index_t n, real low, real high, index_t* below, index_t* above);
};

struct SoftmaxTable {
  real (*max)(const real* x, index_t n);
  void (*softmax)(const real* x, real* y, index_t n);
  void (*softmax_backward)(const real* y, const real* dy, Output dx, index_t n);
  void (*log_softmax)(const real* x, LogSum log_sum, real* y, index_t n);
  void (*log_softmax_backward)(const real* y, const real* dy, Output dx, index_t n);
  LogSum (*log_sum_exp)(const real* x, index_t n);
  // scale exp(x - shift) + offset, for a shift that no x exceeds
  void (*scaled_exp)(const real* x, real shift, real scale, real offset, Output y, index_t n);
};

struct LossTable {
  void (*value)(const LossOperands&, real* loss);
  void (*backward)(const LossOperands&, Side, LossWeights, Output);
  // sum of top - x
  double (*sum_below)(const real* x, real top, index_t n);
  // Cross-entropy: sum of q (log(sum(exp(x))) - x), and the sum of q in *total
  double (*soft_target_loss)(const SoftTargets&, LogSum, double* total);
  // scale exp(x - shift) - weight q, for a shift that no x exceeds
  void (*scaled_exp_minus_target)(const SoftTargets&, real shift, real scale, real weight, Output y);
};

struct LayerNormTable {
  // one row; returns false, with y not written, if its variance cannot be trusted
  bool (*layer_norm)(const NormInput& in, index_t row, real* y, double* mean, real* inverse_std);
  // returns the number of rows before the first that is out of range; the sums over the rows are added to dweight and
  // dbias, which may be null
  index_t (*layer_norm_backward)(const NormRows& in, Output dx, real* dweight, real* dbias);
};

/// Works on blocks of a [rows, columns] matrix; sums are overwritten.
struct BatchNormTable {
  // mean: of x - origin for each column; residual: the sum of the deviations from it, 0 but for rounding; squares: the
  // sum of their squares
  void (*moments)(const real* x, const real* origin, index_t rows, index_t columns, real* mean, real* residual,
                  real* squares);
  // The three that return a count do what is left for each column: they return how many are out of the plain loops'
  // range. The mean less `origin` and the sum of squares, in `variance`, become mean, variance and divisor.
  index_t (*finish_moments)(const real* origin, double rows, double eps, double* mean, double* variance,
                            double* divisor, index_t columns);
  // mean = high + low, scale = weight / divisor; the weight may be null
  index_t (*column_values)(const NormColumns&, const real* weight, real* high, real* low, real* scale);
  // dy_mean = sums.dy / rows, x_factor = sums.dy_x_hat / rows / divisor
  index_t (*gradient_means)(const NormColumns&, ColumnSums sums, real* dy_mean, real* x_factor);
  void (*normalize)(const CenteredRows&, const real* scale, const real* bias, real* y);
  void (*gradient_sums)(const CenteredRows&, const real* inverse_std, const real* dy, real* dy_sums,
                        real* dy_x_hat_sums);
  void (*backward)(const CenteredRows&, const real* scale, const real* dy, const real* dy_mean, const real* x_factor,
                   Output dx);
};

struct ShapeTable {
  // to[i * to_stride + j] = from[j * from_stride + i] for i, j < kSquare; prefetches the rows of the next square, which
  // is at from + next
  void (*transpose)(const real* from, index_t from_stride, index_t next, real* to, index_t to_stride);
};

/// One pass over a parameter; kernels/optim.hpp has the formulas.
struct OptimTable {
  double (*adam)(const AdamStep&, const real* gradient, real* value, real* first, real* second, index_t n);
  double (*momentum)(const MomentumStep&, const real* gradient, real* value, real* velocity, index_t n);
};

/// The inner loops of gemm.
struct GemmTable {
  index_t mr, nr;  // the tile of C that is computed in registers
  index_t (*packed_size)(index_t k, index_t n);
  void (*pack_b)(MatrixView b, index_t k, index_t n, real* packed);
  void (*block)(const GemmBlock&);
};

struct RecurrentTable {
  void (*rnn)(const GateRows&, Nonlinearity f);
  void (*rnn_backward)(Nonlinearity f, const real* h, const real* dh, real* dx, index_t n);
  void (*lstm)(const GateRows&);
  void (*lstm_backward)(const GateRows&, const GateGrads&);
  void (*gru)(const GateRows&);
  void (*gru_backward)(const GateRows&, const GateGrads&);
  void (*gru_reset)(const GateRows&);
  void (*gru_update)(const GateRows&);
  void (*gru_update_backward)(const GateRows&, const GateGrads&);
  void (*gru_reset_backward)(const GateRows&, const GateGrads&);
};

/// Softmax attention between its products.
struct AttentionTable {
  index_t lanes;
  // scores become exp(score - largest) times the dropout factors (null: none), 0 past visible(r)
  void (*weights)(const ScoreRows&, real* scores, const real* factors, SoftmaxRow* sums, real* inverses);
  // scores become weights after dropout; gradients, on entry d loss / d weight after dropout, become d loss / d (q k^T)
  void (*score_gradients)(const ScoreRows&, real* scores, const real* factors, const SoftmaxRow* sums,
                          const real* means, real scale, real* gradients);
  void (*row_dots)(const real* a, index_t stride_a, const real* b, index_t stride_b, index_t rows, index_t width,
                   real* out);
  void (*scale_rows)(real* x, index_t stride, const real* scales, index_t rows, index_t width);
  bool (*rows_finite)(const real* x, index_t stride, index_t rows, index_t width);
};

/// BLAS 2 on contiguous matrices [rows, columns], columns a multiple of `lanes`.
struct LinearAttentionTable {
  index_t lanes;
  void (*ger)(real* m, index_t rows, index_t columns, const real* a, const real* x);
  void (*gemv_transposed)(const real* m, index_t rows, index_t columns, const real* a, real* out);
  void (*gemv)(const real* m, index_t rows, index_t columns, const real* x, real* out);
};

/// Additive attention, one query at a time.
struct ScoreAttentionTable {
  void (*tanh_sums)(const real* q, const real* k, index_t keys, index_t width, real* t);
  void (*tanh_sums_backward)(real u, const real* t, const real* w, index_t width, real* dq, real* dk, real* dw);
};

/// All tables for one instruction set.
struct Isa {
  const char* name;
  const UnaryTable& unary;
  const ArithmeticTable& arithmetic;
  const MaskTable& mask;
  const ReduceTable& reduce;
  const SoftmaxTable& softmax;
  const LossTable& loss;
  const LayerNormTable& layer_norm;
  const BatchNormTable& batch_norm;
  const ShapeTable& shape;
  const OptimTable& optim;
  const GemmTable& gemm;
  const RecurrentTable& recurrent;
  const AttentionTable& attention;
  const LinearAttentionTable& linear_attention;
  const ScoreAttentionTable& score_attention;
};

#ifdef XTAPE_ISA_NAMESPACE  // while the files of this folder are compiled
namespace XTAPE_ISA_NAMESPACE {
extern const UnaryTable unary_table;
extern const ArithmeticTable arithmetic_table;
extern const MaskTable mask_table;
extern const ReduceTable reduce_table;
extern const SoftmaxTable softmax_table;
extern const LossTable loss_table;
extern const LayerNormTable layer_norm_table;
extern const BatchNormTable batch_norm_table;
extern const ShapeTable shape_table;
extern const OptimTable optim_table;
extern const GemmTable gemm_table;
extern const RecurrentTable recurrent_table;
extern const AttentionTable attention_table;
extern const LinearAttentionTable linear_attention_table;
extern const ScoreAttentionTable score_attention_table;
extern const Isa isa;
}  // namespace XTAPE_ISA_NAMESPACE
#endif

}  // namespace xtape::inline XTAPE_DTYPE::kernels

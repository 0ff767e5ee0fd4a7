// Enums and structs in the arguments of the kernels. The kernels, which divide the work among threads, and the loops in
// isa/, which are compiled for every instruction set, both use them.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class Unary {
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  sin,
  cos,
  abs,
  clamp,  ///< min(max(x, a), b)
  tanh,
  sigmoid,
  relu,
  leaky_relu,  ///< x for x > 0, a x elsewhere
  elu,         ///< x for x > 0, a (exp(x) - 1) elsewhere
  silu,
  softplus,  ///< log(1 + exp(a x)) / a; x where a x > b
  softsign,
  gelu,
  gelu_tanh,
};

/// The constants of those functions that have some.
struct Constants {
  real a = 0;
  real b = 0;
};

enum class Binary {
  add,
  sub,
  mul,
  div,
  pow,
  max,           ///< NaN if one is NaN
  min,           ///< NaN if one is NaN
  mul_no_nan,    ///< a b, but 0 where one is 0, even if the other is infinite or NaN: upstream gradient, derivative
  pow_base,      ///< d(a^b)/da, at a = 0 its limit where that is finite
  pow_exponent,  ///< d(a^b)/db, at a = 0 its limit where that is finite
  max_share,     ///< share of the gradient of max(a, b) that a gets: 1, 0, or 1/2 at a tie
};

enum class Compare { equal, not_equal, less, less_equal };

/// log(sum(exp(x))) of a row as shift + log(total), so that differences from it keep their digits when x is large.
struct LogSum {
  real shift;    ///< the largest element; 0 for a row of minus infinities
  double total;  ///< sum(exp(x - shift)); 0 for a row of minus infinities
};

/// Losses of an input x and a target t.
enum class Loss {
  squared,               ///< (x - t)^2
  absolute,              ///< |x - t|
  huber,                 ///< (x - t)^2 / 2 for |x - t| <= delta, linear beyond
  binary_cross_entropy,  ///< of the probability sigmoid(x) and the target t
  divergence,            ///< t (log t - x)
  divergence_of_logs,    ///< exp(t) (t - x)
};

/// n inputs x and targets t of a loss.
struct LossOperands {
  Loss f;
  const real *x, *t;
  index_t n;
  real delta = 0;                    ///< huber
  const real* pos_weight = nullptr;  ///< binary cross-entropy: a factor of each target, or null: 1

  /// The elements begin to end - 1.
  LossOperands range(index_t begin, index_t end) const {
    return {f, x + begin, t + begin, end - begin, delta, offset_pointer(pos_weight, begin)};
  }
};

/// The operand of a loss by which the derivative is taken.
enum class Side { input, target, pos_weight };

/// The upstream gradient of loss i is data[i * step], step 0 or 1.
struct LossWeights {
  const real* data;
  index_t step;

  real operator[](index_t i) const { return data[i * step]; }
};

/// A row of logits x [n] and its target distribution q = a t + b.
struct SoftTargets {
  const real *x, *t;
  index_t n;
  real a, b;
};

/// A stored matrix, used as it is or transposed. `stride` is the distance between stored rows.
struct MatrixView {
  const real* data;
  index_t stride;
  bool transposed = false;
};

/// A matrix that is written; `stride` is the distance between its rows.
struct MatrixOut {
  real* data;
  index_t stride;
};

/// Of a product: c is [m, n], the sums have k terms.
struct GemmShape {
  index_t m, n, k;
};

/// c = alpha a b + beta c, plus `bias` [n] (or null) in every row. With beta = 0, c is not read.
struct Epilogue {
  real alpha = 1, beta = 0;
  const real* bias = nullptr;
};

/// The part of a product that causal masking makes unnecessary. Row i of the score matrix uses only the columns below
/// first + i. If the score matrix is C, gemm does not compute its other elements. If it is A, or A is its transpose,
/// those elements are zero and gemm skips them.
struct CausalSkip {
  enum class Operand { nothing, c, a, transposed_a };

  Operand operand = Operand::nothing;
  index_t first = 0;
};

/// The right-hand matrix of a product, `depth` x `columns`, as GemmTable::pack_b wrote it.
struct PackedPanels {
  const real* data;
  index_t depth, columns;
};

/// Part of a stored matrix that is read next.
struct PrefetchRegion {
  const real* data = nullptr;
  index_t stride = 0, rows = 0, columns = 0;
};

/// Rows of C, computed from a packed B. `scratch` [m, k] is needed if a is transposed.
struct GemmBlock {
  GemmShape shape;
  MatrixView a;
  PackedPanels b;
  MatrixOut c;
  Epilogue epilogue;
  CausalSkip skip;
  PrefetchRegion next;
  real* scratch;
};

/// Most rows of C in one call of GemmTable::block: a multiple of every instruction set's tile.
constexpr index_t kMC = 96;

/// Side of the square that ShapeTable::transpose transposes: one cache line.
constexpr index_t kSquare = 64 / sizeof(real);

// A variance between these bounds was computed without overflow or loss of digits in `real`, and so is what follows
// from it. Means of gradients up to the third bound cannot make a difference of gradients overflow. What lies outside
// goes the way of kernels/wide_range.hpp.
constexpr double kLeastVariance = sizeof(real) == 4 ? 1e-20 : 1e-280;
constexpr double kLargestVariance = sizeof(real) == 4 ? 1e30 : 1e280;
constexpr double kLargestMean = sizeof(real) == 4 ? 1e25 : 1e285;

inline bool trusted_variance(double x) { return (x >= kLeastVariance) & (x <= kLargestVariance); }
inline bool trusted_mean(double x) { return (x >= -kLargestMean) & (x <= kLargestMean); }

/// What layer norm reads.
struct NormInput {
  const real* x;       // [rows, width]
  const real* weight;  // [width], or null: 1
  const real* bias;    // [width], or null: 0
  double eps;
  index_t rows, width;
};

/// What the backward function of layer norm reads.
struct NormRows {
  const real* x;       // [rows, width]
  const real* weight;  // [width], or null: 1
  double eps;
  const double* mean;       // [rows], or null: nothing was subtracted
  const real* inverse_std;  // [rows]: 1 / sqrt(variance + eps), or 0 for a row outside the range of the plain loops
  const real* dy;           // [rows, width]: upstream gradient
  index_t rows, width;
};

/// Whether the plain loops of batch norm give a column its digits. Those of NaN need no other way.
inline bool trusted_column(double mean, double divisor, double weight) {
  constexpr double kLargestScale = sizeof(real) == 4 ? 1e25 : 1e285;
  const double factor = weight < 0 ? -weight : weight;
  const bool scales = (factor == 0) | ((factor <= kLargestScale * divisor) & (factor * kLargestScale >= divisor));
  const bool spread = trusted_variance(divisor * divisor), center = trusted_mean(mean);
  return (divisor != divisor) | (spread & center & scales);
}

/// The same for the means of dy and dy x_hat.
inline bool trusted_gradient(double dy, double dy_x_hat) {
  const bool plain = trusted_mean(dy), product = trusted_mean(dy_x_hat);
  return (dy_x_hat != dy_x_hat) | (plain & product);
}

/// A matrix x, and x_hat = (x - mean) / divisor for each column, with divisor = sqrt(variance + eps); 0 where the
/// divisor is 0.
struct NormColumns {
  const real* x;
  index_t rows, columns;
  const double *mean, *divisor;
};

/// The sums of dy and of dy x_hat over each column.
struct ColumnSums {
  double* dy;
  double* dy_x_hat;
};

/// Rows of a matrix x, and the mean of each column as the sum of two reals, so that x - mean keeps the digits of a
/// large mean.
struct CenteredRows {
  const real* x;
  index_t rows, columns;
  const real *mean_high, *mean_low;

  /// From row r on.
  CenteredRows from(index_t r) const { return {x + r * columns, rows - r, columns, mean_high, mean_low}; }
  /// x - mean in the first row.
  real operator[](index_t c) const { return (x[c] - mean_high[c]) - mean_low[c]; }
};

/// One Adam step (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2):
///   g += l2 * value;                      m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
///   value -= decay * value + step * m / (sqrt(v) * v_scale + epsilon)
/// where step = lr / (1 - beta1^t) and v_scale = 1 / sqrt(1 - beta2^t). Without an epsilon, a v of 0 adds no step.
struct AdamStep {
  double beta1, beta2, epsilon, step, v_scale, l2, decay;
};

/// One step of gradient descent, with a velocity v or without (velocity null):
///   g += l2 * value;                      v = keep v + fresh g
///   value -= decay * value + gradient_rate * g + velocity_rate * v
struct MomentumStep {
  double keep, fresh, gradient_rate, velocity_rate, l2, decay;
};

enum class Nonlinearity { tanh, relu, sigmoid };

/// Rows of one step of a recurrent network with G gates. All arrays are contiguous; see kernels/recurrent.hpp for the
/// formulas.
struct GateRows {
  index_t rows;
  index_t hidden;        // H
  real* gates;           // [rows, G H], activated in place
  const real* bias;      // [G H]
  const real* h_before;  // [rows, H]
  real* h = nullptr;
  const real* c_before = nullptr;
  real* c = nullptr;
};
struct GateGrads {
  real* dh;                 // [rows, H]: of the state after the step
  real* dgates;             // [rows, G H]
  real* dc = nullptr;       // of c: on entry after the step, on return before it
  real* dc_step = nullptr;  // the complete gradient of c after the step, or null
};

/// What turns a row of scores into weights again: exp(score - shift) inverse. In two parts, which keep the digits of
/// large scores.
struct SoftmaxRow {
  real shift;    // the largest score; 0 if all are minus infinity
  real inverse;  // 1 / sum(exp(score - shift)); 0 if all are minus infinity
};

/// Attention scores of a block of queries. Row r uses its first visible(r) columns. Rows are padded to whole lanes.
struct ScoreRows {
  index_t rows, keys, stride;
  index_t first_visible, step;  // visible(r) = first_visible + r * step, within 0..keys
  index_t lanes;

  index_t visible(index_t r) const {
    const index_t n = first_visible + r * step;
    return n < 0 ? 0 : (n > keys ? keys : n);
  }
  index_t width() const { return (keys + lanes - 1) / lanes * lanes; }
};

}  // namespace xtape::inline XTAPE_DTYPE::kernels

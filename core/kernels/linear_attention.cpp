#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/cached_attention.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/linear_attention.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

using Problem = LinearAttentionProblem;
constexpr real kMinusInfinity = -std::numeric_limits<real>::infinity();

/// Holds the product of any two numbers, in range.
using Wide = std::conditional_t<sizeof(real) == 4, double, long double>;

/// Whether a denominator lies so well within the range that products and its inverse do so too.
bool is_ordinary(Wide denominator) {
  constexpr Wide small = sizeof(real) == 4 ? 0x1p-60L : 0x1p-500L;
  const Wide size = denominator < 0 ? -denominator : denominator;
  return size > small && size < 1 / small;
}

/// exp(x - running_max) for x <= running_max; 0 for minus infinity, whatever the maximum. Infinite weights are equal.
real rescale_factor(real x, real running_max) {
  if (x == kMinusInfinity) return 0;
  return x == running_max ? 1 : std::exp(x - running_max);
}

/// The normal form has one maximum, without features too.
index_t maxima_of(index_t features) { return std::max<index_t>(features, 1); }

/// The sums of one key head, divided by exp(running_max): rows_f = sum_j k_jf v_j, totals_f = sum_j k_jf. The normal
/// form has one maximum, running_max[0], over its log key weights (0 if it has none); the separable form one for each
/// feature. The maxima are those of the keys added so far, so a later key cannot change earlier results. A maximum of
/// minus infinity means that no key with a weight was added.
class Sums {
 public:
  Sums(index_t features, index_t value_width, real* state)
      : features_(features),
        width_(cached_row_width(value_width)),
        rows(state),
        totals(rows + features * width_),
        running_max(totals + features) {}

  void clear() const {
    std::fill_n(rows, features_ * (width_ + 1), real(0));
    std::fill_n(running_max, maxima_of(features_), kMinusInfinity);
  }

  /// Adds a_f v to every row and a_f to every total.
  void add(const real* a, const real* padded_v) const {
    isa().linear_attention.ger(rows, features_, width_, a, padded_v);
    for (index_t f = 0; f < features_; ++f) totals[f] += a[f];
  }
  void rescale(real factor) const {
    if (factor != 1) isa().arithmetic.scaled(rows, factor, {rows}, features_ * (width_ + 1));
  }
  void rescale_row(index_t f, real factor) const {
    if (factor == 1) return;
    isa().arithmetic.scaled(rows + f * width_, factor, {rows + f * width_}, width_);
    totals[f] *= factor;
  }
  void gemv_transposed(const real* a, real* padded_out) const {
    isa().linear_attention.gemv_transposed(rows, features_, width_, a, padded_out);
  }
  void gemv(const real* padded_x, real* out) const {
    isa().linear_attention.gemv(rows, features_, width_, padded_x, out);
  }
  index_t width() const { return width_; }

 private:
  index_t features_, width_;

 public:
  real *rows, *totals, *running_max;
};

/// The operands of one key head in one sequence, and scratch rows.
struct Group {
  const Problem& p;
  index_t b, key_head, size, first_head;
  const real *k, *v, *log_key_weights;
  const bool* padding;
  Scratch<real> padded, buffer, features;  // two padded rows of values, a row of features

  Group(const Problem& problem, index_t task)
      : p(problem),
        b(task / p.key_heads),
        key_head(task % p.key_heads),
        size(p.group()),
        first_head(key_head * size),
        k(head_rows(p.k, b, p.key_heads, key_head, p.keys, p.features)),
        v(head_rows(p.v, b, p.key_heads, key_head, p.keys, p.value_width)),
        log_key_weights(head_rows(p.log_key_weight, b, p.key_heads, key_head, p.keys, 1)),
        padding(offset_pointer(p.padding, b * p.keys)),
        padded(cached_row_width(p.value_width)),
        buffer(cached_row_width(p.value_width)),
        features(p.features) {
    std::fill_n(padded.data(), cached_row_width(p.value_width), real(0));
    std::fill_n(buffer.data(), cached_row_width(p.value_width), real(0));
  }

  bool hidden(index_t j) const { return padding && padding[j]; }
  const real* query(index_t g, index_t t) const {
    return head_rows(p.q, b, p.heads, first_head + g, p.queries, p.features) + t * p.features;
  }
  template <class Pointer>
  Pointer output(Pointer data, index_t g, index_t t) const {
    return head_rows(data, b, p.heads, first_head + g, p.queries, p.value_width) + t * p.value_width;
  }
  /// Copies a row of values into a padded row.
  const real* in_padded(const real* row) const {
    std::copy_n(row, p.value_width, padded.data());
    return padded.data();
  }

  /// Key j divided by exp(running_max), as the sums are.
  const real* key(index_t j, const real* running_max) const {
    const real* row = k + j * p.features;
    if (p.separable) {
      for (index_t f = 0; f < p.features; ++f)
        features[f] = row[f] == kMinusInfinity ? kMinusInfinity : row[f] - running_max[f];
      isa().unary.value(Unary::exp, {}, features.data(), features.data(), p.features);
      return features.data();
    }
    const real factor = rescale_factor(log_key_weight(j), running_max[0]);
    if (factor == 1) return row;
    isa().arithmetic.scaled(row, factor, {features.data()}, p.features);
    return features.data();
  }

  real log_key_weight(index_t j) const { return log_key_weights ? log_key_weights[j] : 0; }

  void raise_running_max(const Sums& sums, index_t j) const {
    for (index_t f = 0; p.separable && f < p.features; ++f) {
      const real x = k[j * p.features + f];
      if (!(x > sums.running_max[f])) continue;
      sums.rescale_row(f, rescale_factor(sums.running_max[f], x));
      sums.running_max[f] = x;
    }
    const real x = log_key_weight(j);
    if (p.separable || x <= sums.running_max[0]) return;  // a NaN goes on
    if (sums.running_max[0] != kMinusInfinity) sums.rescale(rescale_factor(sums.running_max[0], x));
    sums.running_max[0] = x;
  }

  /// Adds the keys that query t is the first to attend to.
  void advance(const Sums& sums, index_t t) const {
    for (index_t j = t > 0 ? p.causal_limit(t - 1) : 0; j < p.causal_limit(t); ++j) {
      if (hidden(j)) continue;
      raise_running_max(sums, j);
      sums.add(key(j, sums.running_max), in_padded(v + j * p.value_width));
    }
  }

  /// The denominator of a query in the normal form; 0 if it attends to no key with a weight, whatever the query holds.
  Wide denominator(const Sums& sums, const real* q) const {
    if (sums.running_max[0] == kMinusInfinity) return 0;
    const double total = isa().reduce.dot(q, sums.totals, p.features);
    if (is_ordinary(total)) return total;
    Wide wide = 0;
    for (index_t f = 0; f < p.features; ++f) wide += static_cast<Wide>(q[f]) * static_cast<Wide>(sums.totals[f]);
    return wide;
  }

  /// w_f, with which the output of a query is sum_f w_f rows_f; `out` may be the group's feature row.
  void row_weights(const Sums& sums, const real* q, Wide total, real* out) const {
    if (p.separable) {
      for (index_t f = 0; f < p.features; ++f) out[f] = sums.totals[f] == 0 ? 0 : q[f] / sums.totals[f];
    } else {
      divide(q, total, out);
    }
  }

  /// out = x / total for a row of features; 0 for a total of 0.
  void divide(const real* x, Wide total, real* out) const {
    if (total == 0) return void(std::fill_n(out, p.features, real(0)));
    if (is_ordinary(total))
      return isa().arithmetic.scaled(x, static_cast<real>(1 / static_cast<double>(total)), {out}, p.features);
    for (index_t f = 0; f < p.features; ++f) out[f] = static_cast<real>(static_cast<Wide>(x[f]) / total);
  }
};

bool all_zero(const real* x, index_t n) {
  return std::all_of(x, x + n, [](real value) { return value == 0; });
}

void write(const real* from, Output to, index_t n) {
  if (to.data) isa().arithmetic.scaled(from, 1, to, n);
}

/// Makes what is written by adding start at zero.
void clear(Output to, index_t n) {
  if (to.data && !to.add) std::fill_n(to.data, n, real(0));
}

void forward(const Group& group, const Sums& sums, real* out) {
  const Problem& p = group.p;
  for (index_t t = 0; t < p.queries; ++t) {
    group.advance(sums, t);
    for (index_t g = 0; g < group.size; ++g) {
      const real* q = group.query(g, t);
      group.row_weights(sums, q, p.separable ? 1 : group.denominator(sums, q), group.features.data());
      sums.gemv_transposed(group.features.data(), group.buffer.data());
      std::copy_n(group.buffer.data(), p.value_width, group.output(out, g, t));
    }
  }
}

/// What the backward function needs of each query. With rows S, totals z and row weights w the output is sum_f w_f S_f;
/// d loss / d S_f = w_f dy, and d loss / d z_f = -w_f o.dy, where o is the output (normal form) or S_f / z_f
/// (separable form).
struct Trace {
  Scratch<real> weights;          // [group, T, F], all 0 for a query that contributes nothing
  Scratch<real> total_gradients;  // [group, T, F]
  Scratch<real> running_max;      // [T, max_count]
  index_t max_count;

  explicit Trace(const Group& group)
      : weights(group.size * group.p.queries * group.p.features),
        total_gradients(group.size * group.p.queries * group.p.features),
        running_max(group.p.queries * (group.p.separable ? group.p.features : 1)),
        max_count(group.p.separable ? group.p.features : 1) {}
};

/// Repeats the forward pass: computes dq, and fills the trace.
void trace_queries(const Group& group, const Sums& sums, const real* out, const real* upstream, Output dq,
                   const Trace& trace) {
  const Problem& p = group.p;
  const Scratch<real> gradients(p.features);
  for (index_t t = 0; t < p.queries; ++t) {
    group.advance(sums, t);
    std::copy_n(sums.running_max, trace.max_count, trace.running_max.data() + t * trace.max_count);
    for (index_t g = 0; g < group.size; ++g) {
      real* weights = trace.weights.data() + (g * p.queries + t) * p.features;
      real* total_gradients = trace.total_gradients.data() + (g * p.queries + t) * p.features;
      const Output to = dq.at(((group.b * p.heads + group.first_head + g) * p.queries + t) * p.features);
      const real* dy = group.output(upstream, g, t);
      const real* q = group.query(g, t);
      const Wide total = p.separable ? 1 : group.denominator(sums, q);
      if (total == 0 || all_zero(dy, p.value_width)) {
        std::fill_n(weights, p.features, real(0));
        std::fill_n(total_gradients, p.features, real(0));
        clear(to, p.features);
        continue;
      }
      group.row_weights(sums, q, total, weights);
      sums.gemv(group.in_padded(dy), gradients.data());
      const real through_output = static_cast<real>(isa().reduce.dot(dy, group.output(out, g, t), p.value_width));
      for (index_t f = 0; f < p.features; ++f) {
        const real z = sums.totals[f];
        const real share = p.separable ? (z == 0 ? 0 : gradients[f] / z) : through_output;  // o.dy
        gradients[f] = p.separable ? share : gradients[f] - z * share;
        total_gradients[f] = -weights[f] * share;
      }
      if (!p.separable) group.divide(gradients.data(), total, gradients.data());
      write(gradients.data(), to, p.features);
    }
  }
}

/// Sums over the queries from the last to the first, and reads the sums at each key once all queries that attend to it
/// are added: dk, dv and the gradient of the log key weights.
void sum_to_keys(const Group& group, const Sums& sums, const real* upstream, const LinearAttentionGradients& to,
                 const Trace& trace) {
  const Problem& p = group.p;
  real* dk = head_rows(to.dk.data, group.b, p.key_heads, group.key_head, p.keys, p.features);
  real* dv = head_rows(to.dv.data, group.b, p.key_heads, group.key_head, p.keys, p.value_width);
  real* dlog_key_weight = head_rows(to.dlog_key_weight.data, group.b, p.key_heads, group.key_head, p.keys, 1);
  const Scratch<real> gradients(p.features);
  for (index_t t = p.queries - 1; t >= 0; --t) {
    const real *running_max = trace.running_max.data() + t * trace.max_count, *later = running_max + trace.max_count;
    if (t + 1 < p.queries) {
      for (index_t f = 0; p.separable && f < p.features; ++f)
        sums.rescale_row(f, rescale_factor(running_max[f], later[f]));
      if (!p.separable) sums.rescale(rescale_factor(running_max[0], later[0]));
    }
    for (index_t g = 0; g < group.size; ++g) {
      const index_t at = (g * p.queries + t) * p.features;
      const real* weights = trace.weights.data() + at;
      if (all_zero(weights, p.features)) continue;
      isa().linear_attention.ger(sums.rows, p.features, sums.width(), weights,
                                 group.in_padded(group.output(upstream, g, t)));
      for (index_t f = 0; f < p.features; ++f) sums.totals[f] += trace.total_gradients[at + f];
    }
    for (index_t j = p.causal_limit(t) - 1; j >= (t > 0 ? p.causal_limit(t - 1) : 0); --j) {
      if (group.hidden(j)) continue;  // its gradients stay zero
      sums.gemv(group.in_padded(group.v + j * p.value_width), gradients.data());
      const real* key = group.key(j, running_max);  // divided by exp(running_max), as the sums are
      const real key_factor = p.separable ? 1 : rescale_factor(group.log_key_weight(j), running_max[0]);
      if (key_factor == 0) continue;  // its weight is exactly 0
      for (index_t f = 0; f < p.features; ++f)
        gradients[f] = (p.separable ? key[f] : key_factor) * (gradients[f] + sums.totals[f]);
      if (dlog_key_weight)
        dlog_key_weight[j] +=
            static_cast<real>(isa().reduce.dot(gradients.data(), group.k + j * p.features, p.features));
      write(gradients.data(), {offset_pointer(dk, j * p.features), true}, p.features);
      if (!dv) continue;
      sums.gemv_transposed(key, group.buffer.data());
      write(group.buffer.data(), {dv + j * p.value_width, true}, p.value_width);
    }
  }
}

}  // namespace

index_t linear_state_size(index_t features, index_t value_width) {
  return features * (cached_row_width(value_width) + 1) + maxima_of(features);
}

void clear_linear_state(real* state, index_t features, index_t value_width) {
  Sums(features, value_width, state).clear();
}

void linear_attention(const Problem& p, real* state, real* out) {
  const index_t size = linear_state_size(p.features, p.value_width);
  parallel_for(p.batches * p.key_heads, [&](index_t task) {
    const Group group(p, task);
    const Scratch<real> own(state ? 0 : size);
    const Sums sums(p.features, p.value_width, state ? state + task * size : own.data());
    if (!state) sums.clear();
    forward(group, sums, out);
  });
}

void linear_attention_backward(const Problem& p, const real* out, const real* upstream,
                               const LinearAttentionGradients& to) {
  const index_t keys = p.batches * p.key_heads * p.keys;
  clear(to.dk, keys * p.features);
  clear(to.dv, keys * p.value_width);
  clear(to.dlog_key_weight, keys);
  parallel_for(p.batches * p.key_heads, [&](index_t task) {
    const Group group(p, task);
    const Scratch<real> state(linear_state_size(p.features, p.value_width));
    const Sums sums(p.features, p.value_width, state.data());
    const Trace trace(group);
    sums.clear();
    trace_queries(group, sums, out, upstream, to.dq, trace);
    sums.clear();
    sum_to_keys(group, sums, upstream, to, trace);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

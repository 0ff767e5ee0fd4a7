#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/store.hpp>

double dot(const real* x, const real* y, index_t n) {
  return sum_of(n, [x, y](index_t i) { return load(x + i) * load(y + i); }, [x, y](index_t i) { return x[i] * y[i]; });
}

bool all_finite(const real* x, index_t n) {  // 0 * infinity and 0 * NaN are NaN
  return sum_of(n, [x](index_t i) { return 0 * load(x + i); }, [x](index_t i) { return 0 * x[i]; }) == 0;
}

/// The largest magnitude, 0 for n = 0; NaN if an element is infinite or NaN.
real largest_magnitude(const real* x, index_t n) {
  typedef LaneIndices Bits;
  const Bits magnitude = ~(Bits{} + (LaneIndex{1} << (8 * sizeof(real) - 1)));
  Lanes most[4] = {}, faults[4] = {};
  const auto take = [&](int j, index_t i) {
    const Lanes v = reinterpret_cast<Lanes>(reinterpret_cast<Bits>(load(x + i)) & magnitude);
    most[j] = v > most[j] ? v : most[j];
    faults[j] += 0 * v;
  };
  index_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) take(j, i + j * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) take(0, i);
  const Lanes a = most[0] > most[1] ? most[0] : most[1], b = most[2] > most[3] ? most[2] : most[3];
  real out = lane_max(a > b ? a : b),
       fault = static_cast<real>(lane_sum((faults[0] + faults[1]) + (faults[2] + faults[3])));
  for (; i < n; ++i) {
    const real v = x[i] < 0 ? -x[i] : x[i];
    out = v > out ? v : out;
    fault += 0 * v;
  }
  return out + fault;
}

void column_sums(const real* x, index_t rows, index_t columns, index_t stride, real* out) {
  for (index_t c = 0; c < columns; ++c) out[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * stride;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) out[c] += row[c];
  }
}

/// Largest or smallest of n >= 1 elements; NaN if one is NaN.
template <bool largest>
real extreme_of(const real* x, index_t n) {
  real out = x[0];
  index_t i = 0;
  if (n >= kLanes) {
    Lanes best = load(x);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      const Lanes v = load(x + i);
      best = ((largest ? v > best : v < best) | (v != v)) ? v : best;
    }
    for (index_t j = 0; j < kLanes; ++j)
      out = ((largest ? best[j] > out : best[j] < out) | (best[j] != best[j])) ? best[j] : out;
  }
  for (; i < n; ++i) out = ((largest ? x[i] > out : x[i] < out) | (x[i] != x[i])) ? x[i] : out;
  return out;
}

real extreme(const real* x, index_t n, bool largest) {
  return largest ? extreme_of<true>(x, n) : extreme_of<false>(x, n);
}

/// dx = dy / k at the k elements equal to y (to NaN, if y is NaN), 0 elsewhere.
void max_min_backward_row(const real* x, real y, real dy, Output dx, index_t n) {
  const auto tied = [=](index_t i) { return (x[i] == y) | ((x[i] != x[i]) & (y != y)); };
  index_t ties = 0;
  for (index_t i = 0; i < n; ++i) ties += tied(i);
  const real share = dy / static_cast<real>(ties);
  store_each(dx, n, [=](index_t i) { return tied(i) ? share : 0; });
}

/// The mean, and the sum of the squared differences from it. x[0] is subtracted first, so that a large mean costs no
/// digits.
void moments(const real* x, index_t n, double* mean, double* squares) {
  const real pivot = x[0];
  const double offset = sum_of_differences(x, pivot, n) / static_cast<double>(n);
  *mean = static_cast<double>(pivot) + offset;
  *squares = sum_of_squared_differences(x, pivot, static_cast<real>(offset), n);
}

/// dx = scale (x - mean).
void subtract_mean(const real* x, double mean, double scale, Output dx, index_t n) {
  store_each(dx, n, [=](index_t i) { return static_cast<real>(scale * (static_cast<double>(x[i]) - mean)); });
}

/// Adds how many elements lie below `low` and above `high`; n is at most 2^31 - 1.
void count_tails(const real* x, index_t n, real low, real high, index_t* below, index_t* above) {
  std::int32_t less = 0, more = 0;
  for (index_t i = 0; i < n; ++i) {
    less += x[i] < low;
    more += x[i] > high;
  }
  *below += less;
  *above += more;
}

}  // namespace

const ReduceTable reduce_table = {sum,        sum_of_squares, largest_magnitude, dot,
                                  all_finite, column_sums,    extreme,           max_min_backward_row,
                                  moments,    subtract_mean,  count_tails};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/statistics.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// The variance, or its root.
Tensor spread(const char* op, bool root, const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
  const ReductionRows r = reduced_axes_last(op, x, axes, keep_dims);
  const double freedom = static_cast<double>(r.width) - correction;
  if (!(correction >= 0)) throw ValueError(op, "the correction must not be negative");
  if (!(freedom > 0))
    throw ValueError(op, "with correction " + std::to_string(correction) + " it is not defined for groups of " +
                             std::to_string(r.width) + "; got shape " + shape_text(x.shape()));
  const auto rows = static_cast<std::size_t>(r.rows);
  Doubles mean(rows), squares(rows);
  kernels::moments(r.x.data(), mean.data(), squares.data(), r.rows, r.width);
  Array out(r.shape);
  for (std::size_t i = 0; i < rows; ++i) {
    const double variance = squares[i] / freedom;
    out.data()[i] = static_cast<real>(root ? std::sqrt(variance) : variance);
  }
  const Tensor y(std::move(out));
  // d var = 2 (x - mean) / (n - c); d std = d var / (2 std)
  return Tape::record(
      op, {r.x}, y,
      [root, freedom, x = r.x.detach(), y, mean = std::move(mean), width = r.width](const Array& dy, Grads& g) {
        Doubles scale(mean.size());
        for (std::size_t i = 0; i < scale.size(); ++i) {
          const auto stddev = static_cast<double>(y.data()[i]);
          const double derivative = !root ? 2 / freedom : stddev == 0 ? 0 : 1 / (freedom * stddev);
          scale[i] = derivative * static_cast<double>(dy.data()[i]);
        }
        const Output dx = g.buffer(0);
        kernels::subtract_mean(x.data(), mean.data(), scale.data(), dx.data, dx.add, static_cast<index_t>(scale.size()),
                               width);
      });
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
  return spread("var", false, x, axes, keep_dims, correction);
}

Tensor stddev(const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
  return spread("stddev", true, x, axes, keep_dims, correction);
}

Tensor norm(const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = reduced_axes_last("norm", x, axes, keep_dims);
  Array out(r.shape);
  kernels::norms(r.x.data(), out.data(), r.rows, r.width);
  const Tensor y(std::move(out));
  // d norm = x / norm
  return Tape::record("norm", {r.x}, y,
                      [x = r.x.detach(), y, rows = r.rows, width = r.width](const Array& dy, Grads& g) {
                        Doubles scale(static_cast<std::size_t>(rows));
                        for (std::size_t i = 0; i < scale.size(); ++i) {
                          const auto length = static_cast<double>(y.data()[i]);
                          scale[i] = length == 0 ? 0 : static_cast<double>(dy.data()[i]) / length;
                        }
                        const Output dx = g.buffer(0);
                        kernels::subtract_mean(x.data(), nullptr, scale.data(), dx.data, dx.add, rows, width);
                      });
}

GradCases statistics_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 4}, 121), wide = sample({2, 37}, 122);
  return {
      {"var", "all", {x}, [](Args a) { return var(a[0]); }},
      {"var", "first axis", {x}, [](Args a) { return var(a[0], {0}); }},
      {"var",
       "first and last, kept, biased",
       {x},
       [](Args a) {
         return var(a[0], {0, 2}, true, 0);
       }},
      {"var", "wider than the lanes", {wide}, [](Args a) { return var(a[0], {1}); }},
      {"stddev", "last axis", {x}, [](Args a) { return stddev(a[0], {-1}); }},
      {"stddev", "middle axis, biased", {x}, [](Args a) { return stddev(a[0], {1}, false, 0); }},
      {"norm", "all", {x}, [](Args a) { return norm(a[0]); }},
      {"norm", "last axis", {x}, [](Args a) { return norm(a[0], {2}); }},
      {"norm",
       "first two axes, kept",
       {x},
       [](Args a) {
         return norm(a[0], {0, 1}, true);
       }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/random.hpp>
#include <xtape/inspect/measure/jacobian.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr double kSettled = 1e-10;

/// Divides a vector by its 2-norm and returns the norm.
double normalize(std::vector<double>& v) {
  double squares = 0;
  for (double x : v) squares += x * x;
  const double length = std::sqrt(squares);
  if (length > 0)
    for (double& x : v) x /= length;
  return length;
}

}  // namespace

Array jacobian(const TensorMap& f, const Array& x) {
  Tape tape({.retain_graph = true});
  const Tensor input = tape.variable(x);
  const Tensor output = f(input);
  const index_t rows = output.numel(), columns = numel(x);
  Array out = empty_array({rows, columns});
  Array seed = Tensor::zeros(output.shape()).value();
  for (index_t row = 0; row < rows; ++row) {
    seed.data()[row] = 1;
    tape.backward(output, seed);
    seed.data()[row] = 0;
    const Array gradient = tape.grad(input);
    std::copy_n(gradient.data(), columns, out.data() + row * columns);
  }
  return out;
}

double spectral_norm(const Array& weight, index_t iterations) {
  if (weight.dimension() < 2) throw ShapeError("spectral_norm", "a matrix", weight.shape());
  if (!kernels::all_finite(weight.data(), numel(weight)))
    throw ValueError("spectral_norm", "finite elements", "NaN or infinity");
  const index_t rows = shape_of(weight)[0], columns = rows > 0 ? numel(weight) / rows : 0;
  // A power of two brings the largest element near 1, so that no square leaves the range of double.
  const auto largest = static_cast<double>(kernels::largest_magnitude(weight.data(), numel(weight)));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  std::vector<double> matrix(weight.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = std::ldexp(static_cast<double>(weight.data()[i]), -exponent);
  std::vector<double> right(columns), left(rows);
  Random random(0, "spectral_norm");
  for (double& x : right) x = random.uniform() - 0.5;  // a constant start could be another singular vector
  normalize(right);
  double norm = 0;
  for (index_t i = 0; i < iterations; ++i) {
    for (index_t r = 0; r < rows; ++r) {
      left[r] = 0;
      for (index_t c = 0; c < columns; ++c) left[r] += matrix[r * columns + c] * right[c];
    }
    const double before = std::exchange(norm, normalize(left));
    if (norm == 0 || std::abs(norm - before) < kSettled * norm) break;
    std::fill(right.begin(), right.end(), 0.0);
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < columns; ++c) right[c] += matrix[r * columns + c] * left[r];
    normalize(right);
  }
  return std::ldexp(norm, exponent);
}

std::vector<double> state_jacobian_norms(const std::function<Tensor(index_t, const Tensor&)>& step, const Array& h0,
                                         index_t steps, const std::vector<index_t>& lags) {
  for (index_t lag : lags)
    if (lag < 0 || lag > steps) throw ValueError("state_jacobian_norms", "lags in 0.." + std::to_string(steps), lag);
  std::vector<Tensor> states = {Tensor(h0)};
  for (index_t t = 0; t < steps; ++t) states.push_back(step(t, states.back()).detach());
  std::vector<double> out;
  for (index_t lag : lags) {
    const auto rest = [&](const Tensor& h) {
      Tensor state = h;
      for (index_t t = steps - lag; t < steps; ++t) state = step(t, state);
      return state;
    };
    out.push_back(spectral_norm(jacobian(rest, states[steps - lag].value())));
  }
  return out;
}

Mask gradient_zeros(const TensorMap& f, const Array& x) {
  const Array matrix = jacobian(f, x);
  Mask out = empty_array<Mask>(x.shape());
  std::fill(out.begin(), out.end(), true);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (matrix.data()[i] != 0) out.data()[i % x.size()] = false;
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

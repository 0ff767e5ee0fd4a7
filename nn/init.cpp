#include <xtape/core/error.hpp>
#include <xtape/core/kernels/qr.hpp>
#include <xtape/nn/init.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace xtape::inline XTAPE_DTYPE::init {

namespace {

struct Fans {
  double in, out;

  double of(FanMode fan) const { return fan == FanMode::in ? in : out; }
};

Fans fans_of(const Array& value) {
  if (value.dimension() < 2) throw ShapeError("init", "at least two axes for fan-in and fan-out", value.shape());
  double rest = 1;
  for (std::size_t i = 2; i < value.dimension(); ++i) rest *= static_cast<double>(value.shape()[i]);
  return {static_cast<double>(value.shape()[1]) * rest, static_cast<double>(value.shape()[0]) * rest};
}

/// Whether a value stays finite as `real`.
bool finite(double value) { return std::isfinite(static_cast<real>(value)); }

double checked(const char* what, double value) {
  if (!(value >= 0) || !finite(value))
    throw ValueError("init", std::string(what) + " that is finite and at least 0", value);
  return value;
}

void fill_uniform(Array& value, Random& random, double bound) {
  for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<real>(random.uniform(-bound, bound));
}

void fill_normal(Array& value, Random& random, double stddev) {
  for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<real>(stddev * random.normal());
}

}  // namespace

Init zeros() { return constant(0); }
Init ones() { return constant(1); }

Init constant(double value) {
  return [value](Array& x, Random&) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<real>(value);
  };
}

Init uniform(double low, double high) {
  if (!(low <= high) || !finite(low) || !finite(high) || !std::isfinite(high - low))
    throw ValueError("init", "finite bounds of uniform with low <= high", low, high);
  return [low, high](Array& x, Random& random) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<real>(random.uniform(low, high));
  };
}

Init normal(double mean, double stddev) {
  checked("a standard deviation", stddev);
  return [mean, stddev](Array& x, Random& random) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<real>(mean + stddev * random.normal());
  };
}

double gain(Activation function, double negative_slope) {
  switch (function) {
    case Activation::linear:
    case Activation::sigmoid:
      return 1;
    case Activation::tanh:
      return 5.0 / 3;
    case Activation::relu:
      return std::sqrt(2.0);
    case Activation::leaky_relu:
      return std::sqrt(2 / (1 + negative_slope * negative_slope));
  }
  throw ValueError("init", "a known nonlinearity", "another");
}

Init xavier_uniform(double gain) {
  return [gain = checked("a gain", gain)](Array& x, Random& random) {
    const Fans fans = fans_of(x);
    fill_uniform(x, random, gain * std::sqrt(6 / (fans.in + fans.out)));
  };
}

Init xavier_normal(double gain) {
  return [gain = checked("a gain", gain)](Array& x, Random& random) {
    const Fans fans = fans_of(x);
    fill_normal(x, random, gain * std::sqrt(2 / (fans.in + fans.out)));
  };
}

Init he_uniform(double gain, FanMode fan) {
  return [gain = checked("a gain", gain), fan](Array& x, Random& random) {
    fill_uniform(x, random, gain * std::sqrt(3 / fans_of(x).of(fan)));
  };
}

Init he_normal(double gain, FanMode fan) {
  return [gain = checked("a gain", gain), fan](Array& x, Random& random) {
    fill_normal(x, random, gain / std::sqrt(fans_of(x).of(fan)));
  };
}

Init orthogonal(double gain) {
  return [gain = checked("a gain", gain)](Array& x, Random& random) {
    fans_of(x);  // throws for a tensor with fewer than two axes
    const index_t rows = shape_of(x)[0], columns = numel(x) / std::max<index_t>(1, rows);
    const index_t length = std::max(rows, columns), count = std::min(rows, columns);
    std::vector<double> vectors(length * count);  // [length, count]
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < length; ++i) vectors[i * count + j] = random.normal();
    kernels::orthonormalize_columns(vectors.data(), length, count);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j)
        x.data()[i * columns + j] = static_cast<real>(gain * vectors[rows <= columns ? j * count + i : i * count + j]);
  };
}

Init identity(double gain) {
  return [gain = checked("a gain", gain)](Array& x, Random&) {
    if (x.dimension() != 2) throw ShapeError("init", "a matrix for an identity", x.shape());
    for (std::size_t i = 0; i < x.shape()[0]; ++i)
      for (std::size_t j = 0; j < x.shape()[1]; ++j) x(i, j) = i == j ? static_cast<real>(gain) : real(0);
  };
}

Init uniform_fan_in(index_t fan_in) {
  if (fan_in < 1) throw ValueError("init", "a fan-in of at least 1", fan_in);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  return uniform(-bound, bound);
}

Init gpt2() { return normal(0, 0.02); }
Init gpt2_residual(index_t layers) {
  if (layers < 1) throw ValueError("init", "at least 1 layer", layers);
  return normal(0, 0.02 / std::sqrt(2.0 * static_cast<double>(layers)));
}

}  // namespace xtape::inline XTAPE_DTYPE::init

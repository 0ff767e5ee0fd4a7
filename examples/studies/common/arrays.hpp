// Arrays for measurements, and distances between them.
#pragma once

#include <xtape/core/random.hpp>
#include <xtape/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace xtape::theory {

inline Array normal_array(const Shape& shape, Random& random, double stddev = 1, double mean = 0) {
  Array out = empty_array(shape);
  for (real& value : out) value = static_cast<real>(mean + stddev * random.normal());
  return out;
}

/// [rows, columns] from numbers row by row. (xtensor cannot tell nested braces of one row from a copy.)
inline Array matrix(index_t rows, std::initializer_list<double> values) {
  Array out = empty_array({rows, std::ssize(values) / rows});
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

/// [size, size] with `value` on the diagonal.
inline Array diagonal(index_t size, double value) {
  Array out = Tensor::zeros({size, size}).value();
  for (index_t i = 0; i < size; ++i) out(i, i) = static_cast<real>(value);
  return out;
}

/// Largest |a - b| over all elements of two arrays of one shape.
inline double largest_difference(const Array& a, const Array& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    out = std::max(out, static_cast<double>(std::abs(a.data()[i] - b.data()[i])));
  return out;
}

inline double largest(const Array& a) { return largest_difference(a, Tensor::zeros(a.shape()).value()); }

/// 2-norm of all elements.
inline double norm_of(const Array& a) {
  double squares = 0;
  for (double value : a) squares += value * value;
  return std::sqrt(squares);
}

/// Elements that are not exactly zero.
inline double nonzeros(const Array& a) {
  return static_cast<double>(std::count_if(a.begin(), a.end(), [](real value) { return value != 0; }));
}

/// Product of two matrices, in plain loops.
inline Array product(const Array& a, const Array& b) {
  Array out = Tensor::zeros({shape_of(a)[0], shape_of(b)[1]}).value();
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t k = 0; k < a.shape(1); ++k)
      for (std::size_t j = 0; j < b.shape(1); ++j) out(i, j) += a(i, k) * b(k, j);
  return out;
}

}  // namespace xtape::theory

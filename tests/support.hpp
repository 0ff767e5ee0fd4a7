// Comparisons with explicit limits, and small helpers for the tests.
#pragma once

#include <doctest/doctest.h>

#include <xtape/xtape.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace xtape::test {

#ifdef XTAPE_DOUBLE
constexpr bool kDouble = true;
#else
constexpr bool kDouble = false;
#endif

/// The limit for this dtype.
constexpr double tolerance(double in_double, double in_float) { return kDouble ? in_double : in_float; }

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Limits {
  double relative = tolerance(1e-9, 1e-5);
  double absolute = tolerance(1e-12, 1e-7);
};

/// Returns "" if `got` is within absolute + relative * |want| of `want`, else a sentence. NaN matches NaN, and
/// infinities match if equal.
inline std::string difference(double got, double want, const Limits& limits) {
  const bool same = got == want || (std::isnan(got) && std::isnan(want)) ||
                    (std::isfinite(got) && std::isfinite(want) &&
                     std::abs(got - want) <= limits.absolute + limits.relative * std::abs(want));
  if (same) return "";
  std::ostringstream out;
  out.precision(17);
  out << "got " << got << ", want " << want;
  return out.str();
}

inline std::string difference(const Array& got, const Array& want, const Limits& limits) {
  if (got.shape() != want.shape()) return "got shape " + shape_text(got.shape()) + ", want " + shape_text(want.shape());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string text =
        difference(static_cast<double>(got.data()[i]), static_cast<double>(want.data()[i]), limits);
    if (!text.empty()) return "element " + std::to_string(i) + ": " + text;
  }
  return "";
}

/// An array of the given shape, from elements in row-major order.
inline Array array(const Shape& shape, std::initializer_list<double> values) {
  Array out = empty_array(shape);
  REQUIRE(out.size() == values.size());
  std::size_t i = 0;
  for (double value : values) out.data()[i++] = static_cast<real>(value);
  return out;
}

/// Masks and indices of the given shape. (xtensor cannot distinguish {{a}, {b}} from a copy.)
inline Mask mask(const Shape& shape, std::initializer_list<bool> values) {
  Mask out = empty_array<Mask>(shape);
  REQUIRE(out.size() == values.size());
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}
inline IndexArray indices(const Shape& shape, std::initializer_list<index_t> values) {
  IndexArray out = empty_array<IndexArray>(shape);
  REQUIRE(out.size() == values.size());
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

inline std::vector<index_t> list(const IndexArray& x) { return {x.data(), x.data() + x.size()}; }

/// A vector.
inline Array row(std::initializer_list<double> values) { return array({std::ssize(values)}, values); }

/// 0, 1, 2, ... in row-major order.
inline Array counting(const Shape& shape) {
  Array out = empty_array(shape);
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<real>(i);
  return out;
}

/// The time steps from begin to end - 1 of x [B, T, ...].
inline Array steps(const Tensor& x, index_t begin, index_t end) { return slice(x, 1, begin, end).value(); }

inline double norm_of(const Array& x) {
  double squares = 0;
  for (real v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares);
}

inline void check_near(double got, double want, const Limits& limits = {}) {
  const std::string text = difference(got, want, limits);
  CHECK_MESSAGE(text.empty(), text);
}
inline void check_near(const Array& got, const Array& want, const Limits& limits = {}) {
  const std::string text = difference(got, want, limits);
  CHECK_MESSAGE(text.empty(), text);
}
inline void check_equal(const Array& got, const Array& want) { check_near(got, want, {0, 0}); }

/// Returns whether f throws E with a message that contains `part`.
template <class E, class F>
void check_throws(const F& f, const std::string& part) {
  try {
    f();
  } catch (const E& error) {
    const std::string text = error.what();
    CHECK_MESSAGE(text.find(part) != std::string::npos, "the message reads: ", text);
    return;
  } catch (const std::exception& error) {
    FAIL_CHECK("another exception: " << error.what());
    return;
  }
  FAIL_CHECK("nothing was thrown; expected: " << part);
}

}  // namespace xtape::test

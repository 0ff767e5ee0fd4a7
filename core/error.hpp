// Typed exceptions. The message about a wrong argument reads "[op] expected a bias of shape (3), got (2,3)".
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/number_text.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace xtape {

/// "(2,3)", or "()" for a scalar. Takes any container of sizes.
template <class ShapeLike>
std::string shape_text(const ShapeLike& shape) {
  std::string out;
  for (const auto size : shape) out += (out.empty() ? "(" : ",") + std::to_string(size);
  return out.empty() ? "()" : out + ")";
}

/// A number, a text or the sizes of a shape, as messages show it.
template <class T>
std::string message_text(const T& x) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) return std::string(std::string_view(x));
  else if constexpr (std::is_integral_v<T>) return std::to_string(x);
  else if constexpr (std::is_arithmetic_v<T>) return number_text(x);
  else return shape_text(x);
}

/// "expected a vector, got (2,3)"; several values are joined as in "got (2), (3) and (4)".
std::string expected_got(std::string_view expected, std::initializer_list<std::string> got);
template <class... Got>
std::string expected_got(std::string_view expected, const Got&... got) {
  return expected_got(expected, {message_text(got)...});
}

/// Base of all exceptions of this library. `op` names the function, layer or file format that throws.
class Error : public std::runtime_error {
 public:
  Error(std::string_view op, std::string_view what);

  /// Says what was expected, and what came in its place: numbers, texts, or shapes.
  template <class... Got>
    requires(sizeof...(Got) > 0)
  Error(std::string_view op, std::string_view expected, const Got&... got)
      : Error(op, expected_got(expected, got...)) {}
};

/// Operand shapes do not fit together, an axis does not exist, or a shape is too large to hold.
class ShapeError : public Error {
  using Error::Error;
};

/// An index (token, class, row, axis position) lies outside its range.
class IndexError : public Error {
  using Error::Error;
};

/// An option or argument has a value outside its domain (a dropout probability of 1.5, zero heads).
class ValueError : public Error {
  using Error::Error;
};

/// A tape is used in a way it does not allow: a second backward, a tensor of a finished tape, a changed parameter.
class TapeError : public Error {
  using Error::Error;
};

/// Gradients are read after a backward pass that failed; `zero_grad()` makes them valid again.
class GradientError : public Error {
  using Error::Error;
};

/// A parameter or buffer name is unknown, taken twice, or malformed.
class NameError : public Error {
  using Error::Error;
};

/// A file or directory cannot be read or written, or its content is not valid.
class FileError : public Error {
  using Error::Error;
};

/// A valid file does not fit what it is loaded into; the message lists every difference.
class MismatchError : public FileError {
  using FileError::FileError;
};

/// A training run has diverged, and the user asked to stop it in that case.
class DivergedError : public Error {
  using Error::Error;
};

/// Command-line arguments do not fit the program: an unknown option, a value outside its range.
class UsageError : public Error {
  using Error::Error;
};

/// The library does not offer this on purpose (for example second-order gradients).
class UnsupportedError : public Error {
  using Error::Error;
};

[[noreturn]] void fail_index(std::string_view op, std::string_view what, index_t index, index_t low, index_t high);

/// Throws IndexError "expected `what` in low..high, got index" unless it lies there. `what` is a plural.
inline void check_index(std::string_view op, std::string_view what, index_t index, index_t low, index_t high) {
  if (index < low || index > high) [[unlikely]]
    fail_index(op, what, index, low, high);
}

}  // namespace xtape

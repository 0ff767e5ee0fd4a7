// Typed exceptions. Every message reads "[op] what is wrong; got shapes (2,3) and (4,5)".
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace xtape {

/// Base of all exceptions of this library. `op` names the function, layer or file format that throws.
class Error : public std::runtime_error {
 public:
  Error(std::string_view op, std::string_view what);
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

/// "(2,3)", or "()" for a scalar. Takes any container of sizes.
template <class ShapeLike>
std::string shape_text(const ShapeLike& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? "," : "") + std::to_string(shape[i]);
  return out + ")";
}

/// Throws ShapeError "[op] what; got shape (2,3)" or "...; got shapes (2,3) and (4,5)".
template <class ShapeLike>
[[noreturn]] void fail_shapes(std::string_view op, std::string what, std::initializer_list<ShapeLike> shapes) {
  what += shapes.size() == 1 ? "; got shape " : "; got shapes ";
  std::size_t i = 0;
  for (const ShapeLike& shape : shapes) what += (i++ ? " and " : "") + shape_text(shape);
  throw ShapeError(op, what);
}

}  // namespace xtape

// Products in Einstein's notation.
#pragma once

#include <xtape/core/tape.hpp>

#include <string_view>

namespace xtape::inline XTAPE_DTYPE {

/// Product of two tensors, one letter for each axis: "bthd,bshd->bhts". A letter missing from the result is summed
/// over; without "->" the result has the letters that stand once, in alphabetical order. Spaces are ignored. Done by
/// one batched `matmul`; operands are permuted only if their axes do not lie so already.
///
/// Throws ValueError for a malformed equation, ShapeError if extents do not fit (extents of 1 do not broadcast), and
/// UnsupportedError for "..." and for a letter that stands twice in one operand (a diagonal).
Tensor einsum(std::string_view equation, const Tensor& a, const Tensor& b);

}  // namespace xtape::inline XTAPE_DTYPE

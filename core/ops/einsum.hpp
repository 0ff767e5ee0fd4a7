// Products in Einstein notation.
#pragma once

#include <xtape/core/tape.hpp>

#include <string_view>

namespace xtape::inline XTAPE_DTYPE {

/// The product of two tensors, with one letter for each axis: "bthd,bshd->bhts". Letters that the result does not have
/// are summed over; without "->" the result has the letters that occur once, in alphabetical order. Spaces are ignored.
/// It is one batched `matmul`; operands are permuted only if the order of their axes requires it.
///
/// Throws ValueError for a malformed equation, ShapeError if sizes do not fit (sizes of 1 do not broadcast), and
/// UnsupportedError for "..." and for a letter that occurs twice in one operand (a diagonal).
Tensor einsum(std::string_view equation, const Tensor& a, const Tensor& b);

}  // namespace xtape::inline XTAPE_DTYPE

// Matrix products.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct MatmulOptions {
  bool transpose_a = false;  ///< swap the last two axes of a, without a copy
  bool transpose_b = false;
};

/// Product over the last two axes, [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast. A 1-D operand is a
/// row on the left and a column on the right, and its axis is dropped from the result. Throws ShapeError.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

/// x W^T + b: x [..., I], weight [O, I], bias [O] or empty -> [..., O]. Throws ShapeError.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Sum of products of two vectors [N] -> []. Throws ShapeError.
Tensor dot(const Tensor& a, const Tensor& b);

/// All products of the elements of two vectors, [M] and [N] -> [M, N]. Throws ShapeError.
Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace xtape::inline XTAPE_DTYPE

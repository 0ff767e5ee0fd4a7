// Argument checks that layer norm and batch norm share. Not part of the public interface.
#pragma once

#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// x [..., C] with C >= 1; weight and bias must be [C] or empty, and eps must not be negative. Throws ShapeError or
/// ValueError.
void check_norm_arguments(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);

/// The elements of an operand that may be missing, or null.
inline const real* data_or_null(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

}  // namespace xtape::inline XTAPE_DTYPE

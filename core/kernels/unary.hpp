// Unary functions over whole arrays.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[i] = f(x[i]); x and y may be the same array.
void unary(Unary f, const real* x, real* y, index_t n, Constants constants = {});

/// y[i] = f(x[i]) and derivative[i] = f'(x[i]), for functions whose derivative is expensive to compute on its own.
void unary_and_derivative(Unary f, const real* x, real* y, real* derivative, index_t n, Constants constants = {});

/// dx[i] = dy[i] * f'(x[i]). y is f(x). Only one of x and y is read (DerivativeReads in isa/unary.cpp); the other may
/// be null.
void unary_backward(Unary f, const real* x, const real* y, const real* dy, Output dx, index_t n,
                    Constants constants = {});

}  // namespace xtape::inline XTAPE_DTYPE::kernels

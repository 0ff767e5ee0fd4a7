// Arithmetic of two arrays, or of an array and numbers.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[i] = f(a[i * step_a], b[i * step_b]) with steps 0 or 1.
void binary(Binary f, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);

/// y = f(a, b), a and b read in the order of the loop by its two strides, y contiguous.
void binary_strided(Binary f, const StridedLoop& loop, const real* a, const real* b, real* y);

/// y[i] = scale * x[i] + shift.
void affine(const real* x, real scale, real shift, real* y, index_t n);

/// y[i] = scale * x[i].
void scaled(const real* x, real scale, Output y, index_t n);

/// y[i] = scale * a[i] * b[i].
void product(const real* a, const real* b, real scale, Output y, index_t n);

void fill(real* y, real value, index_t n);

}  // namespace xtape::inline XTAPE_DTYPE::kernels

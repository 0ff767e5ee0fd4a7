// Jacobians of small functions, to study the flow of gradients. Each function runs one backward pass for each output
// element, so use them for states and layers, not for whole models.
#pragma once

#include <xtape/core/tape.hpp>

#include <functional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

using TensorMap = std::function<Tensor(const Tensor&)>;

/// d f(x) / dx as a matrix [outputs, inputs], both in row-major order. Throws TapeError if the output of f is not on
/// the tape, because f does not depend on its input.
Array jacobian(const TensorMap& f, const Array& x);

/// Largest singular value of a matrix, by power iteration on W^T W until it changes by less than 1e-10 of its value, at
/// most `iterations` times. The axes after the first are flattened. 0 for a matrix of zeros. Throws ShapeError for
/// fewer than two axes, ValueError for NaN or infinity.
double spectral_norm(const Array& weight, index_t iterations = 10000);

/// Spectral norms of d h_T / d h_{T - lag} for each lag, where h_{t+1} = step(t, h_t) for t = 0..T-1 from h0. The
/// gradient vanishes where these fall with the lag and explodes where they grow. Throws ValueError for a lag outside
/// 0..T.
std::vector<double> state_jacobian_norms(const std::function<Tensor(index_t t, const Tensor& h)>& step, const Array& h0,
                                         index_t steps, const std::vector<index_t>& lags);

/// True where an element of x has no influence on f(x): its column of the Jacobian is exactly zero, for example because
/// of a mask or detach().
Mask gradient_zeros(const TensorMap& f, const Array& x);

}  // namespace xtape::inline XTAPE_DTYPE

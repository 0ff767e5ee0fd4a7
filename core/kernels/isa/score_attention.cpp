#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>

/// t[s, d] = tanh(q[d] + k[s, d]).
void tanh_sums(const real* q, const real* k, index_t keys, index_t width, real* t) {
  for (index_t s = 0; s < keys; ++s) {
    const real* row = k + s * width;
    real* to = t + s * width;
#pragma GCC ivdep
    for (index_t d = 0; d < width; ++d) to[d] = hyperbolic_tangent(q[d] + row[d]);
  }
}

/// For one key, t = tanh(q + k), and the upstream gradient u of w.t: dw += u t; dq and dk += u w (1 - t^2).
void tanh_sums_backward(real u, const real* t, const real* w, index_t width, real* dq, real* dk, real* dw) {
#pragma GCC ivdep
  for (index_t d = 0; d < width; ++d) {
    const real gradient = u * w[d] * (1 - t[d] * t[d]);
    dw[d] += u * t[d];
    dq[d] += gradient;
    dk[d] += gradient;
  }
}

}  // namespace

const ScoreAttentionTable score_attention_table = {tanh_sums, tanh_sums_backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/parallel.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {
constexpr index_t kGrainSize = 1 << 15;  // elements a thread takes at a time
}

void pointwise_loss(Loss f, real p, const real* x, const real* t, real* loss, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    isa().loss.value(f, p, x + begin, t + begin, loss + begin, end - begin);
  });
}

void pointwise_loss_backward(Loss f, real p, Side side, const real* x, const real* t, const real* weights, index_t step,
                             real* out, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    isa().loss.backward(f, p, side, x + begin, t + begin, weights + begin * step, step, out + begin, accumulate,
                        end - begin);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

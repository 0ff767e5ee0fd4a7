#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/core/ops/softmax.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using Forward = void (*)(const real* x, real* y, index_t rows, index_t width);
using Backward = void (*)(const real* y, const real* dy, Output dx, index_t rows, index_t width);

Tensor along_axis(const char* op, const Tensor& x, index_t axis, Forward forward, Backward backward) {
  const index_t at = normalize_axis_or_scalar(op, axis, x.shape());
  if (at + 1 < x.rank()) return transpose(along_axis(op, transpose(x, at, -1), -1, forward, backward), at, -1);
  const index_t width = around_axis(x.shape(), at).count, rows = width ? x.numel() / width : 0;
  Array out = empty_array(x.shape());
  forward(x.data(), out.data(), rows, width);
  const Tensor y(std::move(out));
  return Tape::record(op, {x}, y, [y, backward, rows, width](const Array& dy, Grads& g) {
    backward(y.data(), dy.data(), g.buffer(0), rows, width);
  });
}

}  // namespace

Tensor softmax(const Tensor& x, index_t axis) {
  return along_axis("softmax", x, axis, kernels::softmax, kernels::softmax_backward);
}

Tensor log_softmax(const Tensor& x, index_t axis) {
  return along_axis("log_softmax", x, axis, kernels::log_softmax, kernels::log_softmax_backward);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = reduced_axes_last("logsumexp", x, axes, keep_dims);
  Array out = empty_array(r.shape);
  std::vector<kernels::LogSum, PoolAllocator<kernels::LogSum>> parts(out.size());
  kernels::log_sum_exp(r.x.data(), out.data(), parts.data(), r.rows, r.width);
  return Tape::record(
      "logsumexp", {r.x}, Tensor(std::move(out)),
      [x = r.x.detach(), parts = std::move(parts), rows = r.rows, width = r.width](const Array& dy, Grads& g) {
        kernels::log_sum_exp_backward(x.data(), parts.data(), dy.data(), g.buffer(0), rows, width);
      });
}

}  // namespace xtape::inline XTAPE_DTYPE

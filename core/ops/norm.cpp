#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/norm.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/elementwise.hpp>
#include <xtape/core/ops/norm.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  if (x.rank() < 1 || x.extent(-1) == 0) fail_shapes<Shape>("layer_norm", "the last axis is empty", {x.shape()});
  if (!(eps >= 0)) throw ValueError("layer_norm", "eps must not be negative, but is " + std::to_string(eps));
  const index_t width = x.extent(-1), rows = x.size() / width;
  for (const Tensor* affine : {&gain, &bias})
    if (affine->defined() && (affine->rank() != 1 || affine->size() != width))
      fail_shapes<Shape>("layer_norm", "gain and bias must match the last axis", {x.shape(), affine->shape()});
  std::vector<double, PoolAllocator<double>> mean(static_cast<std::size_t>(rows));
  Array inverse(Shape{static_cast<std::size_t>(rows)});
  Array y(x.shape());
  kernels::layer_norm(x.data(), gain.defined() ? gain.data() : nullptr, bias.defined() ? bias.data() : nullptr,
                      static_cast<real>(eps), y.data(), mean.data(), inverse.data(), rows, width);
  return Tape::record("layer_norm", {x, gain, bias}, Tensor(std::move(y)),
                      [x = x.detach(), gain = gain.detach(), mean = std::move(mean),
                       inverse = Tensor(std::move(inverse)), rows, width](const Array& dy, Grads& g) {
                        if (g.needs(0)) {
                          const Destination to = g.buffer(0);
                          kernels::layer_norm_backward(x.data(), gain.defined() ? gain.data() : nullptr, mean.data(),
                                                       inverse.data(), dy.data(), to.data, to.accumulate, rows, width);
                        }
                        if (g.needs(1)) {
                          const Destination to = g.buffer(1);
                          kernels::layer_norm_gain_backward(x.data(), mean.data(), inverse.data(), dy.data(), to.data,
                                                            to.accumulate, rows, width);
                        }
                        if (g.needs(2)) {
                          const Destination to = g.buffer(2);
                          kernels::sum_axis(dy.data(), 1, rows, width, 1, to.data, to.accumulate);
                        }
                      });
}

GradCases norm_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 5}, 61), gain = sample({5}, 62, 0.5, 2), bias = sample({5}, 63);
  const Array wide = sample({3, 37}, 64), wide_gain = sample({37}, 65, 0.5, 2);
  return {
      {"layer_norm", "no affine", {x}, [](Args a) { return layer_norm(a[0]); }},
      {"layer_norm", "gain only, wide", {wide, wide_gain}, [](Args a) { return layer_norm(a[0], a[1]); }},
      {"layer_norm", "gain and bias", {x, gain, bias}, [](Args a) { return layer_norm(a[0], a[1], a[2]); }},
  };
}

}  // namespace xtape::inline XTAPE_FLAVOUR

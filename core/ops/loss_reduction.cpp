#include <xtape/core/error.hpp>
#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/loss_reduction.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

LossReduction::LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape)
    : each_(reduction == Reduction::none), scale_(1) {
  if (reduction == Reduction::mean) scale_ = 1.0 / static_cast<double>(std::max<index_t>(1, counted));
  if (reduction != Reduction::batchmean) return;
  if (shape.empty()) fail_shapes<Shape>(op, "a scalar has no batch to take the mean over", {shape});
  scale_ = 1.0 / static_cast<double>(std::max<std::size_t>(1, shape[0]));
}

Tensor LossReduction::result(Array losses) const {
  if (each_) return Tensor(std::move(losses));
  return Tensor::scalar(static_cast<real>(scale_ * kernels::sum(losses.data(), static_cast<index_t>(losses.size()))));
}

Array LossReduction::weights(const Array& upstream) const {
  if (each_) return upstream;
  Array out(Shape{});
  out() = static_cast<real>(scale_) * upstream();
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {
Tensor filled(const Shape& shape, real value) {
  element_count(shape, "tensor");
  Array out = empty_array(shape);
  kernels::fill(out.data(), value, numel(out));
  return out;
}
}  // namespace

Tensor Tensor::scalar(real value) { return filled(Shape{}, value); }
Tensor Tensor::zeros(const Shape& shape) { return filled(shape, 0); }
Tensor Tensor::ones(const Shape& shape) { return filled(shape, 1); }

/// Products run in tasks, which cannot throw: a wrong name of their library is told before there is an operand.
void Tensor::check() const {
  element_count(storage_.shape(), "tensor");
  kernels::gemm_backend();
}

const Storage& Tensor::storage() const {
  if (!storage_) throw ValueError("tensor", "this handle is empty: it holds no value");
  return storage_;
}

index_t Tensor::size(index_t axis) const { return shape()[normalize_axis("size", axis, shape())]; }

real Tensor::item() const {
  if (numel() != 1) throw ShapeError("item", "a tensor with one element", shape());
  return *data();
}

Tensor Tensor::detach() const {
  Tensor out;
  out.storage_ = storage_;
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

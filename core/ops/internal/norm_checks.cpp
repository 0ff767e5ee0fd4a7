#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/core/ops/internal/norm_checks.hpp>

namespace xtape::inline XTAPE_DTYPE {

void check_norm_arguments(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (x.rank() < 1) fail_shapes<Shape>(op, "the input needs at least one axis", {x.shape()});
  if (x.size(-1) == 0) fail_shapes<Shape>(op, "the last axis is empty", {x.shape()});
  if (!(eps >= 0)) throw ValueError(op, "eps must not be negative, but is " + number_text(eps));
  for (const Tensor* affine : {&weight, &bias})
    if (affine->defined() && (affine->rank() != 1 || affine->numel() != x.size(-1)))
      fail_shapes<Shape>(op, "weight and bias must match the last axis", {x.shape(), affine->shape()});
}

}  // namespace xtape::inline XTAPE_DTYPE

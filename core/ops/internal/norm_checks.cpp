#include <xtape/core/error.hpp>
#include <xtape/core/ops/internal/norm_checks.hpp>

namespace xtape::inline XTAPE_DTYPE {

void check_norm_arguments(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (x.rank() < 1 || x.size(-1) == 0) throw ShapeError(op, "x [..., C] with C at least 1", x.shape());
  if (!(eps >= 0)) throw ValueError(op, "an eps of at least 0", eps);
  for (const Tensor* affine : {&weight, &bias})
    if (affine->defined()) check_shape(op, "weight and bias", affine->shape(), Shape{x.size(-1)});
}

}  // namespace xtape::inline XTAPE_DTYPE

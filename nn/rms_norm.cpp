#include <xtape/core/error.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/rms_norm.hpp>

namespace xtape::inline XTAPE_DTYPE {

RMSNorm::RMSNorm(const Scope& scope, index_t width, const RMSNormOptions& options)
    : layer_(scope.name_or("rms_norm")), width_(width), eps_(options.eps) {
  const std::string name = "rms_norm " + scope.name();
  if (width < 1) throw ValueError(name, "a width of at least 1", width);
  if (!(eps_ >= 0)) throw ValueError(name, "an eps of at least 0", eps_);
  if (options.affine) weight = scope.parameter("weight", {width}, init::ones());
}

Tensor RMSNorm::operator()(const Tensor& x) const {
  if (x.rank() < 1 || x.size(-1) != width_)
    throw ShapeError("rms_norm", "x [..., C] with C = " + std::to_string(width_), x.shape());
  const LayerScope here(layer_);
  here.input(x);
  return here.output(rms_norm(x, weight.defined() ? weight.tensor() : Tensor(), eps_));
}

}  // namespace xtape::inline XTAPE_DTYPE

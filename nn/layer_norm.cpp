#include <xtape/core/error.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/layer_norm.hpp>

namespace xtape::inline XTAPE_DTYPE {

LayerNorm::LayerNorm(const Scope& scope, index_t width, const LayerNormOptions& options)
    : layer_(scope.name_or("layer_norm")), width_(width), eps_(options.eps) {
  if (width < 1) throw ValueError("layer_norm " + scope.name(), "a width of at least 1", width);
  if (!(eps_ >= 0)) throw ValueError("layer_norm " + scope.name(), "an eps of at least 0", eps_);
  const Shape shape = {width};
  if (options.affine) weight = scope.parameter("weight", shape, init::ones());
  if (options.affine && options.bias) bias = scope.parameter("bias", shape, init::zeros());
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  if (x.rank() < 1 || x.size(-1) != width_)
    throw ShapeError("layer_norm", "x [..., C] with C = " + std::to_string(width_), x.shape());
  const LayerScope here(layer_);
  here.input(x);
  return here.output(
      layer_norm(x, weight.defined() ? weight.tensor() : Tensor(), bias.defined() ? bias.tensor() : Tensor(), eps_));
}

}  // namespace xtape::inline XTAPE_DTYPE

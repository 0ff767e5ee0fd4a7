#include <xtape/core/error.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/linear.hpp>

namespace xtape::inline XTAPE_DTYPE {

Linear::Linear(const Scope& scope, index_t in, index_t out, const LinearOptions& options)
    : layer_(scope.name_or("linear")) {
  if (in < 1 || out < 1) throw ValueError("linear " + scope.name(), "sizes of at least 1", in, out);
  weight = scope.parameter("weight", {out, in}, options.weight_init ? options.weight_init : init::uniform_fan_in(in));
  if (options.bias)
    bias = scope.parameter("bias", {out}, options.bias_init ? options.bias_init : init::uniform_fan_in(in));
}

Tensor Linear::operator()(const Tensor& x) const {
  const LayerScope here(layer_);
  here.input(x);
  return here.output(linear(x, weight, bias.defined() ? bias.tensor() : Tensor()));
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/init.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// old += share (batch - old).
void follow(Buffer running, const Array& batch, double share) {
  real* old = running.edit();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double before = static_cast<double>(old[i]), now = static_cast<double>(batch.data()[i]);
    const double next = before + share * (now - before);
    old[i] = static_cast<real>(std::isfinite(next) ? next : (1 - share) * before + share * now);
  }
}

bool finite(const Array& x) { return kernels::all_finite(x.data(), numel(x)); }

}  // namespace

BatchNorm::BatchNorm(const Scope& scope, index_t width, const BatchNormOptions& options)
    : scope_(scope), layer_(scope.name_or("batch_norm")), width_(width), options_(options) {
  const std::string name = "batch_norm " + scope.name();
  if (width < 1) throw ValueError(name, "a width of at least 1", width);
  if (!(options.eps >= 0)) throw ValueError(name, "an eps of at least 0", options.eps);
  if (!(options.momentum >= 0 && options.momentum <= 1))
    throw ValueError(name, "a momentum from 0 to 1", options.momentum);
  const Shape shape = {width};
  if (options.affine) {
    weight = scope.parameter("weight", shape, init::ones());
    bias = scope.parameter("bias", shape, init::zeros());
  }
  running_mean = scope.buffer("running_mean", Tensor::zeros(shape).value());
  running_var = scope.buffer("running_var", Tensor::ones(shape).value());
  num_batches_tracked = scope.integer_buffer("num_batches_tracked", full_array<IndexArray>({}, 0));
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  if (x.rank() < 2 || x.rank() > 3 || x.size(-1) != width_)
    throw ShapeError("batch_norm", "x [B, C] or [B, T, C] with C = " + std::to_string(width_), x.shape());
  const Tensor w = weight.defined() ? weight.tensor() : Tensor(), shift = bias.defined() ? bias.tensor() : Tensor();
  const LayerScope here(layer_);
  here.input(x);
  if (!scope_.training()) {
    if (Probe* probe = Probe::active()) probe->evaluation(layer_);
    return here.output(batch_norm_eval(x, running_mean.value(), running_var.value(), w, shift, options_.eps));
  }
  const BatchNormOutput batch = batch_norm(x, w, shift, options_.eps);
  track(batch);
  return here.output(batch.y);
}

void BatchNorm::track(const BatchNormOutput& batch) const {
  if (!finite(batch.mean) || !finite(batch.variance)) return;
  IntegerBuffer counter = num_batches_tracked;
  const double count = static_cast<double>(*counter.edit() += 1);
  const double share = options_.cumulative ? 1 / count : options_.momentum;
  follow(running_mean, batch.mean, share);
  follow(running_var, batch.variance, share);
}

}  // namespace xtape::inline XTAPE_DTYPE

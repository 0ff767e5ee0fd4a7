#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/recurrent_lags.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR {

LastStepBackward::LastStepBackward(const RecurrentPass& pass, const Grads& grads)
    : pass_(pass),
      length_(static_cast<std::size_t>(pass.order_.batch()), 0),
      dy_(Tensor::zeros(pass.y_shape_).value()),
      dh_(pass.ranked(grads.upstream(1))),
      dgates_(pass.gates_.shape()),
      dh_steps_(pass.h_before_.shape()) {
  const kernels::PackedSteps steps = pass.order_.steps();
  for (index_t s = 0; s < steps.steps; ++s)
    for (index_t row = steps.offset[s]; row < steps.offset[s + 1]; ++row)
      ++length_[static_cast<std::size_t>(row - steps.offset[s])];
  if (const Array* dy = grads.upstream(0)) take_last_rows(*dy);
  if (pass.layout_->cells) {
    dc_ = pass.ranked(grads.upstream(2));
    dc_steps_ = Array(dh_steps_.shape());
  }
}

void LastStepBackward::take_last_rows(const Array& dy) {
  const kernels::PackedSteps steps = pass_.order_.steps();
  for (std::size_t rank = 0; rank < length_.size(); ++rank) {
    if (length_[rank] == 0) continue;
    const index_t at = steps.place[steps.offset[length_[rank] - 1] + static_cast<index_t>(rank)] * pass_.hidden_;
    std::copy_n(dy.data() + at, pass_.hidden_, dy_.data() + at);
  }
}

kernels::RecurrentGrads LastStepBackward::arrays() {
  const auto given = [](Array& x) { return x.dimension() ? x.data() : nullptr; };
  return {.dy = dy_.data(),
          .dh = dh_.data(),
          .dc = given(dc_),
          .dgates = dgates_.data(),
          .dh_steps = dh_steps_.data(),
          .dc_steps = given(dc_steps_)};
}

std::vector<double> LastStepBackward::norms_by_lag(const Array& step_grads) const {
  const kernels::PackedSteps steps = pass_.order_.steps();
  std::vector<double> squares(static_cast<std::size_t>(steps.steps), 0);
  for (index_t s = 0; s < steps.steps; ++s)
    for (index_t row = steps.offset[s]; row < steps.offset[s + 1]; ++row) {
      const auto rank = static_cast<std::size_t>(row - steps.offset[s]);
      squares[static_cast<std::size_t>(length_[rank] - 1 - s)] +=
          kernels::sum_of_squares(step_grads.data() + row * pass_.hidden_, pass_.hidden_);
    }
  for (double& x : squares) x = std::sqrt(x);
  return squares;
}

void LastStepBackward::report(Probe& probe) const {
  LagNorms norms{pass_.name_, norms_by_lag(dh_steps_), {}};
  if (norms.hidden.empty() || norms.hidden.front() == 0) return;
  if (dc_steps_.dimension()) norms.cell = norms_by_lag(dc_steps_);
  probe.lag_norms(norms);
}

}  // namespace xtape::inline XTAPE_FLAVOUR

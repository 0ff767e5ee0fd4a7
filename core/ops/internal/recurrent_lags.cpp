#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/recurrent_lags.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

/// body(step, sequence, row) for every packed row of the followed sequences.
template <class Body>
void LagGradients::for_rows(const Body& body) const {
  const kernels::PackedSteps steps = pass_.order_.steps();
  const auto followed = std::ssize(length_);
  for (index_t s = 0; s < steps.steps; ++s) {
    const index_t sequences = std::min(followed, steps.offset[s + 1] - steps.offset[s]);
    for (index_t sequence = 0; sequence < sequences; ++sequence) body(s, sequence, steps.offset[s] + sequence);
  }
}

LagGradients::LagGradients(const RecurrentForward& pass, const Grads& grads)
    : pass_(pass),
      length_(std::min(pass.order_.batch(), kLagSequences), 0),
      dy_(empty_array(pass.y_shape_)),
      dh_(pass.sorted(grads.upstream(1))),
      dgates_(empty_array(pass.gates_.shape())),
      dh_steps_(empty_array(pass.h_before_.shape())) {
  for_rows([&](index_t, index_t sequence, index_t) { ++length_[sequence]; });
  take_last_rows(grads.upstream(0));
  if (pass.layout_->cells) {
    dc_ = pass.sorted(grads.upstream(2));
    dc_steps_ = empty_array(dh_steps_.shape());
  }
}

void LagGradients::take_last_rows(const Array* dy) {
  const kernels::PackedSteps steps = pass_.order_.steps();
  for_rows([&](index_t s, index_t sequence, index_t row) {
    const index_t at = steps.place[row] * pass_.hidden_;
    if (dy && s + 1 == length_[sequence]) std::copy_n(dy->data() + at, pass_.hidden_, dy_.data() + at);
    else std::fill_n(dy_.data() + at, pass_.hidden_, real(0));
  });
}

kernels::RecurrentArrays LagGradients::followed(kernels::RecurrentArrays arrays) const {
  arrays.steps.batch = std::ssize(length_);  // sequences are independent of each other
  return arrays;
}

kernels::RecurrentGrads LagGradients::arrays() {
  const auto given = [](Array& x) { return x.dimension() ? x.data() : nullptr; };
  return {.dy = dy_.data(),
          .dh = dh_.data(),
          .dc = given(dc_),
          .dgates = dgates_.data(),
          .dh_steps = dh_steps_.data(),
          .dc_steps = given(dc_steps_)};
}

std::vector<double> LagGradients::norms_by_lag(const Array& step_grads) const {
  std::vector<double> norms(pass_.order_.steps().steps, 0);
  for_rows([&](index_t s, index_t sequence, index_t row) {
    double& norm = norms[length_[sequence] - 1 - s];
    norm = kernels::joint_norm(norm, kernels::norm(step_grads.data() + row * pass_.hidden_, pass_.hidden_));
  });
  return norms;
}

void LagGradients::report(Probe& probe) const {
  const LagNorms hidden{pass_.name_, kHiddenStream, norms_by_lag(dh_steps_)};
  if (hidden.norms.empty() || hidden.norms.front() == 0) return;
  probe.lag_norms(hidden);
  if (dc_steps_.dimension()) probe.lag_norms({pass_.name_, kCellStream, norms_by_lag(dc_steps_)});
}

}  // namespace xtape::inline XTAPE_DTYPE

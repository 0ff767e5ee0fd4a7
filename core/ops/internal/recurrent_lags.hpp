// Gradients of a sequence's last output by lag. Not part of the public interface.
#pragma once

#include <xtape/core/ops/internal/recurrent_forward.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// How many sequences of a batch are followed, the longest ones: more would cost time and add little.
constexpr index_t kLagSequences = 8;

/// A second backward pass for the probe, from the last step of some sequences alone, without the losses of earlier
/// steps. If gradients vanish or explode, this gradient shrinks or grows with each step, while the full gradient of h_t
/// stays as large as that of the loss at step t.
class LagGradients {
 public:
  LagGradients(const RecurrentForward& pass, const Grads& grads);

  /// The arrays of the pass without the sequences that are not followed.
  kernels::RecurrentArrays followed(kernels::RecurrentArrays arrays) const;
  kernels::RecurrentGrads arrays();

  /// After the kernel: passes the norms to the probe, unless no gradient reaches the last steps.
  void report(Probe& probe) const;

 private:
  template <class Body>
  void for_rows(const Body& body) const;
  void take_last_rows(const Array* dy);
  std::vector<double> norms_by_lag(const Array& step_grads) const;

  const RecurrentForward& pass_;
  std::vector<index_t> length_;  // of each followed sequence
  Array dy_, dh_, dc_, dgates_, dh_steps_, dc_steps_;
};

}  // namespace xtape::inline XTAPE_DTYPE

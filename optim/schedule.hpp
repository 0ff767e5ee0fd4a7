// Learning rate schedules: pure functions of the step, which counts from 0. They have no state to save.
//
//   opt.step(cosine(step, {.warmup = 100, .total = 1000, .peak = 1e-3}));
//
// All but one_cycle begin with a linear warm-up of `warmup` steps, in which step s has the rate peak (s+1)/warmup, so
// no step has the rate 0. All throw ValueError for a number that is negative, infinite or NaN, and for a factor outside
// its domain.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

struct ConstantSchedule {
  index_t warmup = 0;
  double peak;
};

/// Warm-up, then `peak` for all later steps.
double constant(index_t step, const ConstantSchedule& schedule);

struct DecaySchedule {
  index_t warmup = 0;
  index_t total;  ///< step that reaches the floor
  double peak;
  double floor = 0;  ///< rate from step `total` on
};

/// Warm-up, then linear decay from peak to floor.
double linear_decay(index_t step, const DecaySchedule& schedule);

/// Warm-up, then half a cosine from peak to floor (Loshchilov and Hutter 2017).
double cosine(index_t step, const DecaySchedule& schedule);

struct StepSchedule {
  index_t warmup = 0;
  index_t every;  ///< number of steps between two drops, at least 1; counted from step 0, warm-up included
  double peak;
  double factor = 0.1;  ///< factor of each drop, 0 to 1
};

/// Warm-up, then peak factor^floor(step / every): PyTorch's StepLR.
double step_decay(index_t step, const StepSchedule& schedule);

struct ExponentialSchedule {
  index_t warmup = 0;
  double peak;
  double factor;     ///< factor of each step after warm-up, 0 to 1
  double floor = 0;  ///< lower limit of the rate after warm-up
};

/// Warm-up, then peak factor^(step - warmup), at least the floor.
double exponential_decay(index_t step, const ExponentialSchedule& schedule);

struct OneCycleSchedule {
  index_t total;  ///< number of steps of the cycle
  double peak;
  double rise = 0.3;     ///< fraction of the cycle in which the rate rises, 0 to 1
  double start = 0.04;   ///< first rate as a fraction of the peak
  double finish = 4e-6;  ///< last rate as a fraction of the peak; kept after the cycle
};

/// The rate rises from start to peak along half a cosine, then falls to the last rate along half a cosine (Smith and
/// Topin 2019). Step total - 1 has the last rate. No warm-up steps. The defaults are those of PyTorch's OneCycleLR.
double one_cycle(index_t step, const OneCycleSchedule& schedule);

struct WarmupStableDecaySchedule {
  index_t warmup = 0;
  index_t total;  ///< step that reaches the floor
  index_t decay;  ///< number of steps of the final decay; the steps between warm-up and decay have the peak rate
  double peak;
  double floor = 0;  ///< rate from step `total` on
};

/// Warm-up, constant peak, then linear decay to the floor (Hu et al. 2024).
double warmup_stable_decay(index_t step, const WarmupStableDecaySchedule& schedule);

struct InverseSqrtSchedule {
  index_t warmup = 0;
  double peak;
};

/// Warm-up, then peak sqrt(warmup / (step + 1)), which continues the warm-up without a jump; without warm-up, peak /
/// sqrt(step + 1) (Vaswani et al. 2017, section 5.3, where the peak is 1/sqrt(width warmup)).
double inverse_sqrt(index_t step, const InverseSqrtSchedule& schedule);

}  // namespace xtape

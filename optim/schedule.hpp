// Learning rates as pure functions of the step, counted from 0: nothing to save, nothing to resume.
//
//   opt.step(cosine(step, {.warmup = 100, .total = 1000, .peak = 1e-3}));
//
// Every schedule begins with `warmup` steps of linear rise, in which step s has peak (s+1)/warmup; so no step has the
// rate 0, and with a warmup of 0 there is none. All throw ValueError for negative, infinite or NaN numbers and for
// factors outside their domain.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

struct ConstantSchedule {
  index_t warmup = 0;
  double peak;
};

/// Warm-up, then `peak` for ever.
double constant(index_t step, const ConstantSchedule& schedule);

struct LinearSchedule {
  index_t warmup = 0;
  index_t total;  ///< the step at which the floor is reached
  double peak;
  double floor = 0;  ///< from `total` on
};

/// Warm-up, then a straight line from peak to floor.
double linear_decay(index_t step, const LinearSchedule& schedule);

struct CosineSchedule {
  index_t warmup = 0;
  index_t total;  ///< the step at which the floor is reached
  double peak;
  double floor = 0;  ///< from `total` on
};

/// Warm-up, then half a cosine from peak to floor (Loshchilov and Hutter 2017).
double cosine(index_t step, const CosineSchedule& schedule);

struct StepSchedule {
  index_t warmup = 0;
  index_t every;  ///< steps between two drops, at least 1; counted from step 0, warm-up included
  double peak;
  double factor = 0.1;  ///< from 0 to 1
};

/// Warm-up, then peak factor^floor(step / every): PyTorch's StepLR.
double step_decay(index_t step, const StepSchedule& schedule);

struct ExponentialSchedule {
  index_t warmup = 0;
  double peak;
  double factor;     ///< of each step after warm-up; from 0 to 1
  double floor = 0;  ///< the rate never falls below it
};

/// Warm-up, then peak factor^(step - warmup), at least the floor.
double exponential_decay(index_t step, const ExponentialSchedule& schedule);

struct OneCycleSchedule {
  index_t total;  ///< steps of the whole cycle
  double peak;
  double rise = 0.3;     ///< fraction of the cycle that rises; from 0 to 1
  double start = 0.04;   ///< the first rate, as a fraction of the peak
  double finish = 4e-6;  ///< the last rate, as a fraction of the peak; kept after the cycle
};

/// Half a cosine up from start to peak, then half a cosine down (Smith and Topin 2019); the last step, total - 1, has
/// the last rate. The defaults are those of PyTorch's OneCycleLR.
double one_cycle(index_t step, const OneCycleSchedule& schedule);

struct WarmupStableDecaySchedule {
  index_t warmup = 0;
  index_t total;  ///< the step at which the floor is reached
  index_t decay;  ///< how many of the last steps fall; what lies between warm-up and fall is at the peak
  double peak;
  double floor = 0;  ///< from `total` on
};

/// Warm-up, a plateau at the peak, then a straight line to the floor (Hu et al. 2024).
double warmup_stable_decay(index_t step, const WarmupStableDecaySchedule& schedule);

struct InverseSqrtSchedule {
  index_t warmup = 0;
  double peak;
};

/// Warm-up, then peak sqrt(warmup / (step + 1)), which joins it without a jump; peak / sqrt(step + 1) without warm-up
/// (Vaswani et al. 2017, section 5.3, where the peak is 1/sqrt(width warmup)).
double inverse_sqrt(index_t step, const InverseSqrtSchedule& schedule);

}  // namespace xtape

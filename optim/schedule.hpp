// Learning rates as pure functions of the step, counted from 0: nothing to save, nothing to resume.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

struct CosineSchedule {
  index_t warmup = 0;  ///< steps of linear rise: step s has peak (s+1)/warmup
  index_t total;       ///< the step at which the floor is reached
  double peak;
  double floor = 0;  ///< from `total` on
};

/// Linear warm-up, then half a cosine from peak to floor (Loshchilov and Hutter 2017). Throws ValueError for negative
/// or NaN numbers.
double cosine(index_t step, const CosineSchedule& schedule);

}  // namespace xtape

#include <xtape/core/error.hpp>
#include <xtape/optim/schedule.hpp>

#include <cmath>
#include <numbers>

namespace xtape {

double cosine(index_t step, const CosineSchedule& s) {
  if (step < 0 || s.warmup < 0 || s.total < 0 || !(s.peak >= 0) || !(s.floor >= 0))
    throw ValueError("cosine", "steps and rates must not be negative");
  if (step < s.warmup) return s.peak * static_cast<double>(step + 1) / static_cast<double>(s.warmup);
  if (step >= s.total) return s.floor;
  const double progress = static_cast<double>(step - s.warmup) / static_cast<double>(s.total - s.warmup);
  return s.floor + (s.peak - s.floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace xtape

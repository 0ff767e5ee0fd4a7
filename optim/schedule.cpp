#include <xtape/core/error.hpp>
#include <xtape/optim/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

namespace xtape {

namespace {

void check_steps(const char* schedule, std::initializer_list<index_t> steps) {
  for (index_t step : steps)
    if (step < 0) throw ValueError(schedule, "steps of at least 0", step);
}

void check_rates(const char* schedule, std::initializer_list<double> rates) {
  for (double rate : rates)
    if (!(rate >= 0) || std::isinf(rate)) throw ValueError(schedule, "rates that are finite and at least 0", rate);
}

void check_fraction(const char* schedule, const char* name, double value) {
  if (!(value >= 0 && value <= 1)) throw ValueError(schedule, std::string(name) + " from 0 to 1", value);
}

double rising(index_t step, index_t warmup, double peak) {
  return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
}

/// Fraction of the way from step `begin` to step `end`, 0 to 1. It is 1 from `end` on, even if begin >= end.
double progress(index_t step, index_t begin, index_t end) {
  if (step >= end) return 1;
  return step <= begin ? 0 : static_cast<double>(step - begin) / static_cast<double>(end - begin);
}

double on_line(double from, double to, double done) { return done == 1 ? to : from + (to - from) * done; }

double on_half_cosine(double from, double to, double done) {
  return done == 1 ? to : to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

}  // namespace

double constant(index_t step, const ConstantSchedule& s) {
  check_steps("constant", {step, s.warmup});
  check_rates("constant", {s.peak});
  return step < s.warmup ? rising(step, s.warmup, s.peak) : s.peak;
}

double linear_decay(index_t step, const DecaySchedule& s) {
  check_steps("linear_decay", {step, s.warmup, s.total});
  check_rates("linear_decay", {s.peak, s.floor});
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return on_line(s.peak, s.floor, progress(step, s.warmup, s.total));
}

double cosine(index_t step, const DecaySchedule& s) {
  check_steps("cosine", {step, s.warmup, s.total});
  check_rates("cosine", {s.peak, s.floor});
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return on_half_cosine(s.peak, s.floor, progress(step, s.warmup, s.total));
}

double step_decay(index_t step, const StepSchedule& s) {
  check_steps("step_decay", {step, s.warmup});
  check_rates("step_decay", {s.peak});
  check_fraction("step_decay", "factor", s.factor);
  if (s.every < 1) throw ValueError("step_decay", "every of at least 1", s.every);
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return s.peak * std::pow(s.factor, static_cast<double>(step / s.every));
}

double exponential_decay(index_t step, const ExponentialSchedule& s) {
  check_steps("exponential_decay", {step, s.warmup});
  check_rates("exponential_decay", {s.peak, s.floor});
  check_fraction("exponential_decay", "factor", s.factor);
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return std::max(s.floor, s.peak * std::pow(s.factor, static_cast<double>(step - s.warmup)));
}

double one_cycle(index_t step, const OneCycleSchedule& s) {
  check_steps("one_cycle", {step, s.total});
  check_rates("one_cycle", {s.peak});
  check_fraction("one_cycle", "rise", s.rise);
  check_fraction("one_cycle", "start", s.start);
  check_fraction("one_cycle", "finish", s.finish);
  const double last = static_cast<double>(s.total - 1), top = s.rise * static_cast<double>(s.total) - 1;
  const auto now = static_cast<double>(step);
  if (now >= last) return s.peak * s.finish;
  if (now < top) return on_half_cosine(s.peak * s.start, s.peak, now / top);
  return on_half_cosine(s.peak, s.peak * s.finish, (now - std::max(0.0, top)) / (last - std::max(0.0, top)));
}

double warmup_stable_decay(index_t step, const WarmupStableDecaySchedule& s) {
  check_steps("warmup_stable_decay", {step, s.warmup, s.total, s.decay});
  check_rates("warmup_stable_decay", {s.peak, s.floor});
  if (s.warmup + s.decay > s.total)
    throw ValueError("warmup_stable_decay", "warm-up and decay within " + std::to_string(s.total) + " steps",
                     s.warmup + s.decay);
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return on_line(s.peak, s.floor, progress(step, s.total - s.decay, s.total));
}

double inverse_sqrt(index_t step, const InverseSqrtSchedule& s) {
  check_steps("inverse_sqrt", {step, s.warmup});
  check_rates("inverse_sqrt", {s.peak});
  if (step < s.warmup) return rising(step, s.warmup, s.peak);
  return s.peak * std::sqrt(static_cast<double>(std::max(s.warmup, index_t{1})) / static_cast<double>(step + 1));
}

}  // namespace xtape

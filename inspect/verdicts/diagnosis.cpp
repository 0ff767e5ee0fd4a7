#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/diagnosis.hpp>

namespace xtape {

namespace {

/// What comes first can bring about what comes later: a task that cannot be learned, a script that makes no steps, bad
/// initial weights and steps that are too large stand before what they do to units and gradients.
constexpr CauseFinder* kChain[] = {
    find_impossible_loss,
    find_constant_loss,
    find_no_backward,
    find_zero_rate,
    find_no_update,
    find_unoptimized,
    find_evaluation_mode,
    find_broken_inputs,
    find_zero_weights,
    find_equal_units,
    find_kept_gradients,
    find_wild_inputs,
    find_repeated_batch,
    find_uneven_rates,
    find_dropout,
    find_strong_decay,
    find_tight_clip,
    find_momentum,
    find_sharp_attention,
    find_large_weights,
    find_small_weights,
    find_noise,
    find_high_rate,
    find_nonfinite,
    find_skipped_steps,
    find_dead_units,
    find_no_gradient,
    find_low_rate,
    find_saturated_units,
    find_depth,
    find_time,
    find_cells,
    find_collapsed_attention,
    find_late_divergence,
    find_broken_validation,
    find_spikes,
    find_overfitting,
    find_untouched_rows,
    find_failure,
};

}  // namespace

Diagnosis diagnose(const RunData& run) {
  const RunFacts facts(run);
  Causes causes;
  for (CauseFinder* find : kChain) find(facts, causes);
  Diagnosis out;
  for (Verdict& cause : causes) {
    if (out.cause) out.consequences.push_back(std::move(cause));
    else out.cause = std::move(cause);
  }
  return out;
}

}  // namespace xtape

// Causes: what can be wrong with a run first of all. Each finder looks for its own evidence and adds nothing without
// it. diagnosis.cpp asks them in the order of the chain.
#pragma once

#include <xtape/inspect/verdicts/run_facts.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <vector>

namespace xtape {

using Causes = std::vector<Verdict>;
using CauseFinder = void(const RunFacts& facts, Causes& out);

// The loss, the inputs and the data.
CauseFinder find_impossible_loss, find_constant_loss, find_broken_inputs, find_wild_inputs, find_repeated_batch,
    find_untouched_rows;
// The script: steps not made, parameters left out, gradients cut or kept.
CauseFinder find_zero_rate, find_no_update, find_unoptimized, find_no_backward, find_no_gradient, find_evaluation_mode,
    find_kept_gradients, find_skipped_steps;
// The initial weights.
CauseFinder find_zero_weights, find_equal_units, find_large_weights, find_small_weights, find_sharp_attention;
// The size of the steps.
CauseFinder find_uneven_rates, find_strong_decay, find_tight_clip, find_momentum, find_high_rate, find_low_rate;
// The flow of numbers through the model.
CauseFinder find_nonfinite, find_depth, find_time, find_cells, find_collapsed_attention, find_dead_units,
    find_saturated_units;
// The course of the run.
CauseFinder find_late_divergence, find_spikes;
// Validation against training, and what is left.
CauseFinder find_broken_validation, find_overfitting, find_dropout, find_noise, find_failure;

}  // namespace xtape

// What attention looks at, for the probe. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/probe.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Sequences of a batch that a summary is made of, the first ones: entropies differ little from one to the next.
constexpr index_t kSummarySequences = 4;

/// `log_sums` [B, H, T] as kernels::attention leaves them. Dropout is not counted.
AttentionSummary summary_of(const kernels::AttentionProblem& problem, const real* log_sums);

}  // namespace xtape::inline XTAPE_DTYPE

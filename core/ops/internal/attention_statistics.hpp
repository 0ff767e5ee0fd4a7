// Statistics of attention weights for the probe. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/probe.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// How many sequences of a batch a summary covers, the first ones: entropies differ little between sequences.
constexpr index_t kSummarySequences = 4;

/// `sums` [B, H, T] from kernels::attention. Dropout is ignored.
AttentionSummary summary_of(const kernels::AttentionProblem& problem, const kernels::SoftmaxRow* sums);

}  // namespace xtape::inline XTAPE_DTYPE

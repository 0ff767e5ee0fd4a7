// Captions: one sentence of measured values for each chart.
#pragma once

#include <xtape/inspect/report/chart_series.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <optional>
#include <string>

namespace xtape {

/// Median over all buckets of a row, or over the last tenth of them; nothing if no value is finite.
std::optional<double> row_median(const Envelope& bands, std::size_t row);
std::optional<double> late_median(const Envelope& bands, std::size_t row);

std::string loss_sentence(const RunData& run);
std::string norm_sentence(const RunData& run);
/// `what`, and the rows with the smallest and the largest median in the last tenth.
std::string rows_sentence(const std::string& what, const NamedEnvelope& bands);
/// The lag at which less than 1 % of lag 0 is left, in the last tenth of the run.
std::string lags_sentence(const LagEnvelope& lags);
std::string ratio_sentence(const NamedEnvelope& ratios);
/// The row that changes most from the first bucket to the last tenth.
std::string growth_sentence(const NamedEnvelope& bands);
std::string rate_sentence(const RunData& run);
std::string highest_sentence(const NamedEnvelope& shares);
std::string attention_sentence(const AttentionMaps& maps, const NamedEnvelope& entropy);
/// The answer and the evidence of a verdict.
std::string verdict_sentence(const std::vector<Verdict>& verdicts, const std::string& id);

}  // namespace xtape

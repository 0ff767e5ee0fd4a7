// One measured sentence for each chart.
#pragma once

#include <xtape/inspect/report/chart_series.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <optional>
#include <string>

namespace xtape {

/// Median over the buckets of a row, or over the last tenth of them; nothing without finite values.
std::optional<double> row_median(const Envelope& bands, std::size_t row);
std::optional<double> late_median(const Envelope& bands, std::size_t row);

std::string loss_sentence(const RunData& run);
std::string norm_sentence(const RunData& run);
/// `what` and which rows are the smallest and the greatest in the last tenth.
std::string rows_sentence(const std::string& what, const NamedBands& bands);
/// How far back 1 % of lag 0 reaches in the last tenth.
std::string lags_sentence(const LagBands& lags);
std::string ratio_sentence(const NamedBands& ratios);
/// Which row changes most from the first bucket to the last tenth.
std::string growth_sentence(const NamedBands& bands);
std::string rate_sentence(const RunData& run);
std::string highest_sentence(const NamedBands& shares);
std::string attention_sentence(const AttentionMaps& maps, const NamedBands& entropy);
/// Answer and evidence of a verdict.
std::string verdict_sentence(const std::vector<Verdict>& verdicts, const std::string& id);

}  // namespace xtape

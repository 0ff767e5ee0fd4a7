// The numbers of a run as bands, for the charts of the report.
#pragma once

#include <xtape/inspect/report/downsample.hpp>
#include <xtape/inspect/run/reader.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// Envelope with the names of their rows.
struct NamedBands {
  std::vector<std::string> names;
  Envelope bands;
};

/// One number of each logged step; nothing where it is missing.
Envelope step_bands(const RunData& run, const Buckets& buckets,
                    const std::function<std::optional<double>(const StepRecord&)>& number);
/// The loss, and the gradient norm before clipping, with the extremes of all steps since the last logged one.
Envelope loss_bands(const RunData& run, const Buckets& buckets);
Envelope norm_bands(const RunData& run, const Buckets& buckets);
/// Share of steps that were clipped.
Envelope clipped_bands(const RunData& run, const Buckets& buckets);

/// "layers.3" of "layers.3.linear1.weight", "head" of "head.weight": what a parameter counts to in a sum.
std::string block_of(const std::string& parameter);

/// Joint gradient norms, from input to output: of each parameter if there are at most 12, else of each layer.
NamedBands gradient_bands(const RunData& run, const Buckets& buckets);
/// Norms of dL/d output of every layer that has one, in the order in which they run.
NamedBands output_bands(const RunData& run, const Buckets& buckets);

/// |update| / |weight| and |weight| of weights (biases are left out: they start at zero): of each if there are at most
/// 12, else of each block; at most 10 of these, evenly chosen.
NamedBands ratio_bands(const RunData& run, const Buckets& buckets);
NamedBands weight_bands(const RunData& run, const Buckets& buckets);

/// Standard deviation of the outputs of the layers that `layers_by_depth` names.
NamedBands stddev_envelopes(const RunData& run, const Buckets& buckets);

/// A share of the units whose name ends in `.part`, or of all that have the number if `part` is empty.
NamedBands unit_bands(const RunData& run, const Buckets& buckets, const std::string& part,
                      const std::function<std::optional<double>(const UnitStats&)>& share);

/// Entropy / ln of the visible keys of every head: "layers.0.self_attn head 2".
NamedBands entropy_bands(const RunData& run, const Buckets& buckets);

/// The gradient of the last step's output by lag (h and c together), as the gradient of lag 0 was.
struct LagBands {
  Envelope bands;
  std::vector<index_t> first, last;  ///< lags of each row
};
LagBands lag_bands(const RunData& run, const Buckets& buckets, const std::string& layer);

}  // namespace xtape

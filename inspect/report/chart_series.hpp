// The values of each chart of the report, by bucket of steps.
#pragma once

#include <xtape/inspect/report/downsample.hpp>
#include <xtape/inspect/run/reader.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// An envelope with the names of its rows.
struct NamedEnvelope {
  std::vector<std::string> names;
  Envelope bands;
};

/// One number for each logged step; the callback returns nothing where it is missing.
Envelope step_envelope(const RunData& run, const Buckets& buckets,
                       const std::function<std::optional<double>(const StepRecord&)>& number);
/// The loss and the gradient norm before clipping. Low and high cover all steps, also those that were not logged.
Envelope loss_envelope(const RunData& run, const Buckets& buckets);
Envelope norm_envelope(const RunData& run, const Buckets& buckets);
/// Share of steps that were clipped.
Envelope clipped_envelope(const RunData& run, const Buckets& buckets);

/// "layers.3" of "layers.3.linear1.weight", "head" of "head.weight": the block that a parameter belongs to.
std::string block_of(const std::string& parameter);

/// Joint gradient norms, from input to output: one row for each parameter if there are at most 12, else for each layer.
NamedEnvelope gradient_envelope(const RunData& run, const Buckets& buckets);
/// Norms of dL/d output of every layer that has one, in order of execution.
NamedEnvelope output_envelope(const RunData& run, const Buckets& buckets);

/// |update| / |weight| and |weight|, without biases, which start at zero: one row for each parameter if there are at
/// most 12, else for at most 10 evenly chosen blocks.
NamedEnvelope ratio_envelope(const RunData& run, const Buckets& buckets);
NamedEnvelope weight_envelope(const RunData& run, const Buckets& buckets);

/// Standard deviation of the outputs of the layers that `layers_by_depth` names.
NamedEnvelope stddev_envelope(const RunData& run, const Buckets& buckets);

/// A share of the units whose name ends in `.part`, or of all units that have this number if `part` is empty.
NamedEnvelope unit_envelope(const RunData& run, const Buckets& buckets, const std::string& part,
                            const std::function<std::optional<double>(const UnitStats&)>& share);

/// Entropy / ln(visible keys) of every head: "layers.0.self_attn head 2".
NamedEnvelope entropy_envelope(const RunData& run, const Buckets& buckets);

/// Norm of the gradient of the last time step's loss at each lag, h and c together.
struct LagEnvelope {
  Envelope bands;
  std::vector<index_t> first, last;  ///< lags of each row
};
LagEnvelope lag_envelope(const RunData& run, const Buckets& buckets, const std::string& layer);

}  // namespace xtape

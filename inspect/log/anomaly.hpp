// AnomalyFinder: finds the first op of a run that produced NaN or infinity (--detect-anomaly).
#pragma once

#include <xtape/core/probe.hpp>

#include <optional>
#include <string>

namespace xtape::inline XTAPE_DTYPE {

struct Anomaly {
  std::string op, layer;
  index_t step;
  bool backward;
  std::string text;  ///< one sentence with shapes and value ranges
  std::string file;  ///< the record, relative to the run folder; empty if it could not be written
};

class AnomalyFinder {
 public:
  /// The arrays are written to `directory`/anomaly: anomaly.json and one .npy file for each input, output and gradient.
  explicit AnomalyFinder(std::string directory) : directory_(std::move(directory)) {}

  void begin(index_t step) { step_ = step; }

  /// Checks the output of an op. The first one that is not finite is recorded and written; later ones are ignored.
  void see(const OpEvent& event);

  const std::optional<Anomaly>& found() const { return found_; }

 private:
  void write_bundle(const OpEvent& event);

  std::string directory_;
  index_t step_ = 0;
  std::optional<Anomaly> found_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// Finds the first op of a run that produced a number that is not finite (--detect-anomaly).
#pragma once

#include <xtape/core/probe.hpp>

#include <optional>
#include <string>

namespace xtape::inline XTAPE_DTYPE {

struct Anomaly {
  std::string op, layer;
  index_t step;
  bool backward;
  std::string text;  ///< one sentence with shapes and ranges
  std::string file;  ///< of the bundle, in the run directory; empty if it could not be written
};

class AnomalyFinder {
 public:
  /// Bundles go into `directory`/anomaly: anomaly.json and an .npy file for every input, output and gradient.
  explicit AnomalyFinder(std::string directory) : directory_(std::move(directory)) {}

  void begin(index_t step) { step_ = step; }

  /// Looks at what an op made. The first that is not finite is kept and its bundle is written.
  void see(const OpEvent& event);

  const std::optional<Anomaly>& found() const { return found_; }

 private:
  void write_bundle(const OpEvent& event);

  std::string directory_;
  index_t step_ = 0;
  std::optional<Anomaly> found_;
};

}  // namespace xtape::inline XTAPE_DTYPE

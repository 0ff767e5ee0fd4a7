// LogState: what a resumed run log needs of the steps before, so that it logs the same as a run without interruption.
#pragma once

#include <xtape/inspect/run/records.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// Of the batches that were measured.
struct BatchHistory {
  std::map<std::string, std::vector<index_t>> idle = {};  ///< of each relu unit: batches in a row in which it was 0
  std::map<std::string, index_t> batches = {};            ///< batches of these units
  std::optional<std::uint64_t> input = {};                ///< hash of the last batch
  index_t repeats = 0;                                    ///< batches in a row before it that were equal to it
};

/// Of the gradients of all steps, from before clipping.
struct GradientSample {
  std::vector<double> last = {};                               ///< elements of the gradient of the last step
  std::map<std::string, std::vector<index_t>> untouched = {};  ///< rows without a gradient so far, by parameter
};

struct LogState {
  bool any_logged = false;
  IntervalStats since_logged = {};
  SpikeDetector::History watched = {};
  std::map<std::string, index_t> events = {};  ///< number of events by kind
  index_t dumps = 0;                           ///< of the flight recorder
  bool optimizer_told = false;                 ///< a line has its options
  BatchHistory measured = {};
  std::optional<GradientSample> gradients = {};  ///< nothing before the first step
};

/// The state as text (JSON).
std::string log_state_text(const LogState& state);

/// The state in such a text; that of a new log for "". Throws ValueError for any other text.
LogState log_state(const std::string& text);

}  // namespace xtape

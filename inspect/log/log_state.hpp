// LogState: what a resumed run log needs of the steps before, so that it logs the same as a run without interruption.
#pragma once

#include <xtape/inspect/run/records.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>

#include <map>
#include <string>

namespace xtape {

struct LogState {
  bool any_logged = false;
  IntervalStats since_logged = {};
  SpikeDetector::History watched = {};
  std::map<std::string, index_t> events = {};  ///< number of events by kind
  index_t dumps = 0;                           ///< of the flight recorder
};

/// The state as text (JSON).
std::string log_state_text(const LogState& state);

/// The state in such a text; that of a new log for "". Throws ValueError for any other text.
LogState log_state(const std::string& text);

}  // namespace xtape

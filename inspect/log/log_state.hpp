// What a run log must remember of the steps before, so that a resumed run logs what an undisturbed one would.
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
  std::map<std::string, index_t> events = {};  ///< how many were told, by kind
  index_t dumps = 0;                           ///< of the flight recorder
};

/// The state as text (JSON).
std::string log_state_text(const LogState& state);

/// The state of such a text, or that of a new log if it is empty. Throws ValueError for any other.
LogState log_state(const std::string& text);

}  // namespace xtape

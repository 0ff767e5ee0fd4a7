// RunState: whether a run goes on, and how it ended.
#pragma once

#include <string>

namespace xtape {

struct RunData;

enum class RunState {
  running,
  paused,       ///< its process is stopped, by SIGSTOP for example
  finished,     ///< RunLog::finish was called
  stopped,      ///< it ended in order before it was finished: by a signal, --stop-after or an error
  killed,       ///< its process is gone without a word
  torn,         ///< the same, in the middle of a line
  out_of_date,  ///< its lock is of a process whose number belongs to another one now, or of before a restart
  unknown,      ///< not finished; the lock is missing, of another machine or of a copied folder
};

/// A state with its evidence, the one text that all pages show.
struct RunStatus {
  RunState state = RunState::unknown;
  std::string text =
      "not finished";  ///< "finished", "stopped by SIGINT after 13 of 40 steps", "killed: process 4711 is gone"
};

/// "running", "paused", "finished", "stopped", "killed", "torn", "out of date", "unknown".
const char* state_name(RunState state);

/// Whether no more lines will come, unless the run is resumed.
bool has_ended(RunState state);

/// The state of a run by its last event, else by its lock and the process that is named there. `half_line`: a line
/// without its end stands in its files.
RunStatus run_status(const RunData& run, bool half_line);

}  // namespace xtape

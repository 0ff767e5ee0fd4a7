// A sweep: many small trainings, each in a process of its own, beside each other where there are processors for it.
//
// Its directory holds a run directory for each, what each printed under logs/, and in each finished run its results,
// results.json. Those are kept when the sweep is started again; a run without them is made anew.
#pragma once

#include <xtape/inspect/run/statistics.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace xtape {

/// What a run found, by name: one number or several.
using Results = std::map<std::string, std::vector<double>>;

struct SweepRun {
  std::string name;                    ///< of the directory: letters, digits, '.', '_' and '-'
  std::vector<std::string> arguments;  ///< what the run is made with; with others it is another run
};

struct SweepOutcome {
  std::string directory;
  Results results = {};
  std::string trouble = {};  ///< why there are no results; empty if there are
  bool kept = false;         ///< finished in an earlier start
};

struct SweepOptions {
  std::string directory;  ///< new, empty, or of an earlier start
  std::string program;    ///< that makes the runs; a directory of another one is refused
  int processes = 1;      ///< at the same time
};

/// Makes the run in the directory, which is not there yet, and returns what it found.
using SweepBody = std::function<Results(const SweepRun& run, const std::string& directory)>;

/// The outcome of each run, in their order. The body runs in a forked process, whose output goes to logs/NAME.txt; if
/// it throws or the process dies, this run has a trouble and the others go on. All are ended when the calling thread
/// ends. No other thread of the caller may hold a lock that the body needs.
/// Throws ValueError for names that are no names or taken twice and for fewer than one process; FileError if the
/// directory is not that of this program's sweep, is in use, has a finished run of this name with other arguments, or
/// cannot be written.
std::vector<SweepOutcome> sweep(const std::vector<SweepRun>& runs, const SweepBody& body, const SweepOptions& options);

/// results.json, as text and back. Throws FileError for a text that is none, naming `path`.
struct FinishedRun {
  std::vector<std::string> arguments;
  Results results;
};
std::string results_json(const FinishedRun& run);
FinishedRun results_of_json(const std::string& text, const std::string& path);

}  // namespace xtape

// A sweep: many small training runs, each in its own process, several at a time.
//
// Its directory holds a run folder for each, the output of each in logs/, and results.json in each finished run.
// When the sweep is started again, finished runs are kept and the others start from the beginning.
#pragma once

#include <xtape/inspect/run/statistics.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace xtape::examples {

/// The results of a run by name: one number or several.
using Results = std::map<std::string, std::vector<double>>;

struct SweepRun {
  std::string name;                    ///< of the directory: letters, digits, '.', '_' and '-'
  std::vector<std::string> arguments;  ///< of the run; results are kept only for equal arguments
};

struct SweepOutcome {
  std::string directory;
  Results results = {};
  std::string trouble = {};  ///< why there are no results; empty if there are results
  bool kept = false;         ///< finished in an earlier start
};

struct SweepOptions {
  std::string directory;  ///< new, empty, or of an earlier start of the sweep
  std::string program;    ///< its name; the directory of another program is refused
  int processes = 1;      ///< at the same time
};

/// Makes the run in the directory, which does not exist yet, and returns its results.
using SweepBody = std::function<Results(const SweepRun& run, const std::string& directory)>;

/// Returns the outcome of each run, in the order of `runs`. The body runs in a forked process, whose output goes to
/// logs/NAME.txt. If it throws or its process dies, the outcome has a `trouble` and the other runs continue. The
/// processes are killed when the calling thread ends. No other thread of the caller may hold a lock that the body
/// needs. Throws ValueError for an invalid or repeated name or fewer than one process; FileError if the directory
/// belongs to another program, is in use, has a finished run of the same name with other arguments, or cannot be
/// written.
std::vector<SweepOutcome> sweep(const std::vector<SweepRun>& runs, const SweepBody& body, const SweepOptions& options);

/// results.json as text and back. results_of_json throws FileError, naming `path`, if the text is invalid.
struct FinishedRun {
  std::vector<std::string> arguments;
  Results results;
};
std::string results_json(const FinishedRun& run);
FinishedRun results_of_json(const std::string& text, const std::string& path);

}  // namespace xtape::examples

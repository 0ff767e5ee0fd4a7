// Reading a run directory: of a run that is finished, still going, killed, or damaged, as far as it can be read.
#pragma once

#include <xtape/inspect/run/records.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace xtape {

struct RunData {
  std::string directory;

  // From run.json; empty or 0 where it cannot be read.
  std::string program, started, version, dtype, compiler, cpu, isa, blas;
  std::uint64_t seed = 0;
  index_t parameters = 0;     ///< number of elements
  index_t planned_steps = 0;  ///< the option --steps
  int threads = 0;
  std::vector<std::pair<std::string, std::string>> options = {};  ///< values as text
  std::vector<ParameterInfo> layout = {};

  std::vector<StepRecord> steps = {};  ///< logged ones, by rising step
  bool only_norms = false;             ///< they come from grad_norms.csv: no losses, rates or units are known
  std::vector<EventRecord> events = {};
  std::vector<std::string> warnings = {};  ///< what is missing or cannot be read, a sentence each

  /// The run was ended by RunLog::finish, and not resumed since.
  bool finished() const;
};

/// Reads a directory, and later what was added to it. A line without its end is left for later: the run may be writing
/// it. Where the log goes back to an earlier step, as after a resumed checkpoint, the later lines count.
class RunReader {
 public:
  /// Throws FileError if this is no directory, or none of the files of a run is in it.
  explicit RunReader(std::string directory);

  /// Reads what is new; false if there is nothing.
  bool update();

  const RunData& run() const { return run_; }

 private:
  struct Lines {
    std::string name;
    std::size_t offset = 0;  // of what is not read yet
    index_t line = 0;
    std::vector<std::string> rejected = {};
    bool missing = false, half = false;
  };

  void read_info();
  std::vector<std::string> new_lines(Lines& file, bool& restarted);
  bool read_steps();
  bool read_events();
  void read_norms();
  void list_warnings();

  RunData run_;
  std::vector<std::string> info_warnings_;
  Lines metrics_{run_folder::kMetrics}, events_{run_folder::kEvents};
};

/// All of a run at once. Throws FileError as RunReader.
RunData read_run(const std::string& directory);

}  // namespace xtape

// RunReader: reads a run folder. The run may be finished, running, killed or damaged.
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

  // From run.json; empty or 0 if it cannot be read.
  std::string program, started, version, dtype, compiler, cpu, isa, blas;
  std::uint64_t seed = 0;
  index_t parameters = 0;     ///< number of elements
  index_t planned_steps = 0;  ///< the option --steps
  int threads = 0;
  std::vector<std::pair<std::string, std::string>> options = {};  ///< values as text
  std::vector<ParameterInfo> layout = {};

  std::vector<StepRecord> steps = {};  ///< logged steps, in order
  bool only_norms = false;             ///< the steps come from grad_norms.csv, without losses, rates and units
  std::vector<EventRecord> events = {};
  std::vector<std::string> warnings = {};  ///< one sentence for each file or line that is missing or unreadable

  /// Whether the run ended with RunLog::finish and was not resumed since.
  bool finished() const;
};

/// Reads a directory, and later what was added to it. An incomplete last line is left for the next update, since the
/// run may be writing it. If the log goes back to an earlier step, as after a resume, the later lines replace the
/// earlier.
class RunReader {
 public:
  /// Throws FileError if there is no such directory or it holds no file of a run.
  explicit RunReader(std::string directory);

  /// Reads what was added. Returns false if nothing was.
  bool update();

  const RunData& run() const { return run_; }

 private:
  struct Lines {
    std::string name;
    std::size_t offset = 0;  // of the unread part
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

/// Reads a run once. Throws FileError as RunReader does.
RunData read_run(const std::string& directory);

}  // namespace xtape

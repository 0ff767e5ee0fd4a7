// RunReader: reads a run folder. The run may be finished, running, killed or damaged.
#pragma once

#include <xtape/inspect/run/line_reader.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/records.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/inspect/run/run_json.hpp>
#include <xtape/inspect/run/run_state.hpp>

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

  RunStatus status = {};  ///< whether the run went on when it was read, or how it ended

  /// Whether the run ended with RunLog::finish and was not resumed since.
  bool finished() const;
  /// Whether no step is logged after this one.
  bool ends_at(index_t step) const { return steps.empty() || step >= steps.back().step; }
};

/// Reads a directory, and later what was added to it. An incomplete last line is left for the next update, since the
/// run may be writing it. If the log goes back to an earlier step, as after a resume, the later lines replace the
/// earlier. Histograms are not kept: they are half of a log, and no page shows them.
class RunReader {
 public:
  /// Throws FileError if there is no such directory or it holds no file of a run.
  explicit RunReader(std::string directory);

  /// Reads what was added. Returns false if nothing was and the state of the run is the same.
  bool update();

  const RunData& run() const { return run_; }
  /// The run, moved out of a reader that is not used any more.
  RunData take() && { return std::move(run_); }

 private:
  /// A file of lines, and what is to be said about it.
  struct Lines {
    Lines(const std::string& directory, const char* file) : name(file), reader(directory + "/" + file) {}

    std::string name;
    LineReader reader;
    std::vector<index_t> rejected = {};  ///< the first lines that cannot be read
    index_t rejected_count = 0;

    bool restart_if_rewritten();
    /// Parses the lines that were added and takes the records. Returns the number of lines.
    template <class Parse, class Take>
    index_t read(const Parse& parse, const Take& take);
    std::vector<std::string> warnings(const std::string& without) const;
  };

  void read_info();
  bool read_lines();
  bool read_steps();
  bool read_events();
  void read_norms();
  void add_step(StepRecord record);
  void list_warnings();

  RunData run_;
  std::vector<std::string> info_warnings_;
  RecordParser parser_{RecordParser::Histograms::drop};
  Lines metrics_, events_;
};

/// Reads a run once. Throws FileError as RunReader does.
RunData read_run(const std::string& directory);

}  // namespace xtape

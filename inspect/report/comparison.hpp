// Comparison: groups runs that differ only in the seed, and names the groups by the settings that differ.
#pragma once

#include <xtape/inspect/run/statistics.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

struct ComparedRun {
  RunData run;
  std::vector<Verdict> verdicts;
};

/// Runs with equal settings, one for each seed.
struct RunGroup {
  std::string label;
  std::vector<std::string> values;  ///< in the order of Comparison::settings
  std::vector<const ComparedRun*> runs = {};
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<std::string> settings;  ///< names of the options that differ
  std::vector<RunGroup> groups;       ///< in order of their first run
};

/// Reads and groups the runs. Options that do not influence the training (output paths, logging intervals, threads) are
/// ignored. Groups are named by their directories if each has one run, else by the settings that differ. Throws
/// FileError if a directory is not a run, ValueError if there are none.
Comparison compare_runs(const std::vector<std::string>& directories);

/// Spread over the seeds of a group; nothing if no run has the number.
std::optional<Spread> spread_of(const RunGroup& group,
                                const std::function<std::optional<double>(const RunData&)>& number);

// Numbers of a run for the table.
std::optional<double> late_loss(const RunData& run);        ///< median of the last tenth
std::optional<double> last_validation(const RunData& run);  ///< the last finite one
std::optional<double> depth_share(const RunData& run);      ///< gradient norm of the first layer's output / the last's
std::optional<double> lag_share(const RunData& run);        ///< gradient at limits::kLag / lag 0, fastest decay
std::optional<double> clipped_share(const RunData& run);
std::optional<double> spike_count(const RunData& run);

/// A column of the table.
struct CompareColumn {
  std::string name, explained;
  std::function<std::optional<double>(const RunData&)> number;
  bool share = false;  ///< shown in percent
};
/// The columns for which at least one run has a number.
std::vector<CompareColumn> columns_of(const Comparison& comparison);

/// The problems of a group, the worst first: "Vanishing in time (3 of 3)"; "Healthy" if there are none.
struct GroupVerdict {
  Finding finding;
  std::string text;
};
GroupVerdict verdict_of(const RunGroup& group);

/// How the runs of a group ended: "finished", "running", "2 finished, 1 killed".
std::string states_of(const RunGroup& group);
/// Whether all of its runs are finished.
bool all_finished(const RunGroup& group);

/// The table as text, one line for each group.
std::string compare_table(const Comparison& comparison);

}  // namespace xtape

// Runs that are compared: put together where only the seed differs, and told apart by the settings that differ.
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

/// Runs with the same settings: one for each seed.
struct RunGroup {
  std::string label;
  std::vector<std::string> values;  ///< of Comparison::settings
  std::vector<const ComparedRun*> runs = {};
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<std::string> settings;  ///< names of the options that differ
  std::vector<RunGroup> groups;       ///< in the order of their first run
};

/// Reads the runs. Options that do not change what is learned (where to write, how often to log, threads) tell no runs
/// apart. Groups are named by their directories if each is one run, else by the settings that differ. Throws FileError
/// for a path that is no run, ValueError for none.
Comparison compare_runs(const std::vector<std::string>& directories);

/// Over the seeds of a group. Nothing if no run has the number.
std::optional<Spread> spread_of(const RunGroup& group,
                                const std::function<std::optional<double>(const RunData&)>& number);

// Stats of a run for the table.
std::optional<double> late_loss(const RunData& run);        ///< median of the last tenth
std::optional<double> last_validation(const RunData& run);  ///< the last one that is finite
std::optional<double> depth_share(const RunData& run);      ///< input / output
std::optional<double> lag_share(const RunData& run);  ///< at limits::kLag of lag 0, in the layer that forgets fastest
std::optional<double> clipped_share(const RunData& run);
std::optional<double> spike_count(const RunData& run);

/// A column of the table.
struct CompareColumn {
  std::string name, explained;
  std::function<std::optional<double>(const RunData&)> number;
  bool share = false;  ///< shown in percent
};
/// The columns for which some run has a number.
std::vector<CompareColumn> columns_of(const Comparison& comparison);

/// The problems of a group, worst first: "Vanishing in time (3 of 3)"; "Healthy" if there are none.
struct GroupVerdict {
  Finding finding;
  std::string text;
};
GroupVerdict verdict_of(const RunGroup& group);

/// Groups by the median of the last validation loss, or of the training loss where there is none; best first. Only
/// those that have one.
std::vector<const RunGroup*> by_loss(const Comparison& comparison);

/// For a terminal: a line a group.
std::string compare_table(const Comparison& comparison);

}  // namespace xtape

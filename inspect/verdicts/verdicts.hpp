// What a run's numbers say in words. The only place where they are judged; the limits stand in inspect/base/limits.hpp.
#pragma once

#include <xtape/inspect/run/reader.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace xtape {

enum class Finding { bad, warning, fine, unmeasured };  ///< in the order in which they are shown

struct Verdict {
  std::string id;  ///< "vanishing_time"; see docs/run_directory.md
  Finding finding;
  std::string answer;    ///< "The gradient halves every 2.9 steps back."
  std::string evidence;  ///< the numbers, with the limit; or why nothing is known
  std::string remedy = {};
  std::optional<index_t> step = {};  ///< where to look
  std::string layer = {};
};

/// All verdicts, problems first.
std::vector<Verdict> judge(const RunData& run);

/// True if the run ended with numbers that are not finite, or far worse than it once was.
bool diverged(const std::vector<Verdict>& verdicts);

/// Steps of spikes: those noted while the run went on, and those among the logged steps.
std::set<index_t> spike_steps(const RunData& run);

/// "bad", "warning", "fine", "unmeasured".
const char* finding_name(Finding finding);

/// A number as evidence shows it.
std::string format_3g(double x);

// The groups of rules that `judge` asks in turn; each tells one verdict or more.
std::vector<Verdict> judge_training(const RunData& run);  ///< finite, diverged, spikes, learning, untrained loss
std::vector<Verdict> judge_depth(const RunData& run);     ///< vanishing and exploding by depth
std::vector<Verdict> judge_time(const RunData& run);      ///< vanishing and exploding by time
std::vector<Verdict> judge_units(const RunData& run);     ///< dead and saturated units
std::vector<Verdict> judge_updates(const RunData& run);   ///< clipping, update ratios, layers that do not learn

}  // namespace xtape

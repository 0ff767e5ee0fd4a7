// Verdicts: what the numbers of a run mean, in words. The limits are in limits.hpp.
#pragma once

#include <xtape/inspect/run/reader.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace xtape {

enum class Finding { bad, warning, fine, unmeasured };  ///< in the order of display

struct Verdict {
  std::string id;  ///< "vanishing_time"; see docs/run_folder.md
  Finding finding;
  std::string answer;    ///< "The gradient halves every 2.9 steps back."
  std::string evidence;  ///< the numbers and the limit, or why nothing is known
  std::string remedy = {};
  std::optional<index_t> step = {};  ///< the step to look at
  std::string layer = {};
};

/// All verdicts, the worst first.
std::vector<Verdict> judge(const RunData& run);

/// Whether the run ended with NaN or infinity, or with a loss far above its best.
bool diverged(const std::vector<Verdict>& verdicts);

/// The steps of spikes: those that the run log reported, and those among the logged steps.
std::set<index_t> spike_steps(const RunData& run);

/// "bad", "warning", "fine", "unmeasured".
const char* finding_name(Finding finding);

/// A number with three significant digits, as the evidence shows it.
std::string format_3g(double x);

// The groups of verdicts that `judge` joins.
std::vector<Verdict> judge_training(const RunData& run);  ///< finite, diverged, spikes, learning, untrained loss
std::vector<Verdict> judge_depth(const RunData& run);     ///< vanishing and exploding by depth
std::vector<Verdict> judge_time(const RunData& run);      ///< vanishing and exploding by time
std::vector<Verdict> judge_units(const RunData& run);     ///< dead and saturated units
std::vector<Verdict> judge_updates(const RunData& run);   ///< clipping, update ratios, layers that do not learn

}  // namespace xtape

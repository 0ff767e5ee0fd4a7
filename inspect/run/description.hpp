// RunDescription: what a program tells the run log about a run. xtape::Args converts to it.
#pragma once

#include <xtape/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace xtape {

using OptionValue = std::variant<bool, index_t, double, std::string>;

/// What to do about a step whose loss or gradient norm is NaN, infinite or a spike.
enum class OnTrouble {
  warn,  ///< print a warning; the optimizer itself makes no update if a gradient is not finite
  skip,  ///< RunLog::accepts returns false, for spikes too
  stop,  ///< RunLog::step throws DivergedError if the loss or the norm is not finite
};

/// The value of that name. Throws ValueError for another name.
OnTrouble parse_on_trouble(const std::string& name);

struct RunDescription {
  std::string program;  ///< names the default folder: runs/<program>-<UTC time>
  std::vector<std::pair<std::string, OptionValue>> options = {};
  std::uint64_t seed = 0;
  index_t steps = 0;           ///< planned number; the last step is always logged
  std::string directory = {};  ///< new or empty; "": runs/<program>-<UTC time>
  bool resumes = false;        ///< the directory holds the run to resume
  OnTrouble on_trouble = OnTrouble::warn;
  bool detect_anomaly = false;  ///< find the first op that produces NaN or infinity
};

}  // namespace xtape

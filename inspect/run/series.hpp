// Small sums over the numbers of a run that verdicts and pages share.
#pragma once

#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace xtape {

/// The first and the last tenth of a series, at least one value each. Values must not be empty.
std::span<const double> first_tenth(std::span<const double> values);
std::span<const double> last_tenth(std::span<const double> values);

/// A number of each logged step.
std::vector<double> series(const RunData& run, const std::function<double(const StepRecord&)>& number);

/// Names of what a list in the records holds, in the order in which they first appear.
template <class Named>
std::vector<std::string> names_in(const RunData& run, std::vector<Named> StepRecord::*list) {
  std::vector<std::string> names;
  for (const StepRecord& step : run.steps)
    for (const Named& x : step.*list) {
      bool known = false;
      for (const std::string& name : names) known = known || name == x.name;
      if (!known) names.push_back(x.name);
    }
  return names;
}

/// The record of that name, or null.
template <class Named>
const Named* named(const std::vector<Named>& list, const std::string& name) {
  for (const Named& x : list)
    if (x.name == name) return &x;
  return nullptr;
}

/// Layers whose output gradients tell how the gradient changes on its way down, from input to output: numbered blocks
/// (layers.0, layers.1, ...) if there are several, else all but the last, whose output is of another kind.
std::vector<std::string> layers_by_depth(const RunData& run);

/// Layers on the way down and what the first receives of what the last does, in the median step.
struct Depth {
  std::string first, last;
  std::optional<double> share;
};
Depth depth_of(const RunData& run);

/// How the gradient of the last step's loss goes back through a recurrent layer.
struct LagCurve {
  std::vector<double> share;  ///< of lag 0: medians over the logged steps; h and c together
  double rate = 1;            ///< factor a step, fitted to the logarithms
};
/// Nothing if the run has no such numbers of this layer.
std::optional<LagCurve> lag_curve(const RunData& run, const std::string& layer);

}  // namespace xtape

// Series of numbers of a run, shared by verdicts and pages.
#pragma once

#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace xtape {

/// The first and the last tenth of a series, at least one value. The series must not be empty.
std::span<const double> first_tenth(std::span<const double> values);
std::span<const double> last_tenth(std::span<const double> values);

/// One number for each logged step.
std::vector<double> series(const RunData& run, const std::function<double(const StepRecord&)>& number);

/// The names in a list of the records, in order of first appearance.
template <class Named>
std::vector<std::string> names_in(const RunData& run, std::vector<Named> StepRecord::* list) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;  // the names of the records
  const std::vector<Named>* before = nullptr;
  for (const StepRecord& step : run.steps) {
    const std::vector<Named>& now = step.*list;
    const auto same = [](const Named& a, const Named& b) { return a.name.same(b.name); };
    if (before && std::equal(now.begin(), now.end(), before->begin(), before->end(), same)) continue;
    before = &now;
    for (const Named& x : now)
      if (known.insert(x.name.str()).second) names.push_back(x.name);
  }
  return names;
}

/// The element of that name, or null. Lists of the same order, as those of steps, are searched without a loop.
template <class Named>
const Named* named(const std::vector<Named>& list, const std::string& name) {
  static thread_local std::size_t last = 0;  // where a name was found
  if (last < list.size() && list[last].name == name) return &list[last];
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return &list[last = i];
  return nullptr;
}

/// The layer of a parameter: "fc1" of "fc1.weight".
std::string layer_of(const std::string& parameter);

/// Whether the name of these units is that of a gate: "rnn_l0.forget".
bool is_gate(const std::string& name);

/// The layers whose output gradients show the flow through depth, from input to output: numbered blocks (layers.0,
/// layers.1, ...) if there are several, else all layers except the last, whose output has another meaning.
std::vector<std::string> layers_by_depth(const RunData& run);

/// The first and the last of these layers, and the ratio of their output gradients in the median step.
struct Depth {
  std::string first, last;
  std::optional<double> share;
};
Depth depth_of(const RunData& run);
/// The same of one step.
Depth depth_at(const RunData& run, const StepRecord& step);

/// The gradient of the last time step's loss by lag, in one recurrent layer.
struct LagCurve {
  std::vector<double> share;  ///< relative to lag 0, medians over the logged steps; all states together
  double rate = 1;            ///< factor for each step back, by a linear fit of the logarithms
};
/// Nothing if the run has no such numbers for this layer.
std::optional<LagCurve> lag_curve(const RunData& run, const std::string& layer);

}  // namespace xtape

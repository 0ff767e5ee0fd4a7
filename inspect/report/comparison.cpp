#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/inspect/report/comparison.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/report/text_page.hpp>
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace xtape {

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

bool changes_nothing(const std::string& option) {
  static const std::set<std::string> names = {"seed",         "out",           "threads", "quick",   "on-trouble",
                                              "log-interval", "val-interval",  "sample",  "resume",  "detect-anomaly",
                                              "stop-after",   "save-interval", "keep",    "sentence"};
  return names.contains(option);
}

Settings settings_of(const RunData& run) {
  Settings out = {{"program", run.program}, {"precision", run.dtype}};
  for (const auto& option : run.options)
    if (!changes_nothing(option.first)) out.push_back(option);
  return out;
}

std::string value_in(const Settings& settings, const std::string& name) {
  for (const auto& [key, value] : settings)
    if (key == name) return value;
  return "–";
}

/// Names of the settings that differ between runs.
std::vector<std::string> differing(const std::vector<Settings>& all) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Settings& settings : all)
    for (const auto& [name, value] : settings)
      if (known.insert(name).second) {
        const std::string first = value_in(all.front(), name);
        if (std::any_of(all.begin(), all.end(),
                        [&, &key = name](const Settings& s) { return value_in(s, key) != first; }))
          names.push_back(name);
      }
  return names;
}

/// "lstm" speaks for itself, "0.1" needs its name.
std::string named_value(const std::string& name, const std::string& value) {
  const bool word =
      !value.empty() && std::isalpha(static_cast<unsigned char>(value[0])) && value != "true" && value != "false";
  return word ? value : name + " " + value;
}

void name_groups(Comparison& c) {
  const bool single =
      std::all_of(c.groups.begin(), c.groups.end(), [](const RunGroup& g) { return g.runs.size() == 1; });
  std::set<std::string> taken;
  for (RunGroup& group : c.groups) {
    const std::string name = run_name(group.runs.front()->run);
    if (single || c.settings.empty()) {
      group.label = name;
    } else {
      for (std::size_t i = 0; i < c.settings.size(); ++i)
        group.label += (i ? ", " : "") + named_value(c.settings[i], group.values[i]);
    }
    if (!taken.insert(group.label).second) group.label = group.runs.front()->run.directory;
  }
}

}  // namespace

Comparison compare_runs(const std::vector<std::string>& directories) {
  if (directories.empty()) throw ValueError("compare", "at least 1 run", 0);
  Comparison c;
  std::vector<Settings> all;
  for (const std::string& directory : directories) {
    RunData run = read_run(directory);
    std::vector<Verdict> verdicts = judge(run);
    all.push_back(settings_of(run));
    c.runs.push_back({std::move(run), std::move(verdicts)});
  }
  c.settings = differing(all);
  std::map<std::vector<std::string>, std::map<std::uint64_t, std::size_t>> seeds;  // runs of each group by seed
  std::map<std::vector<std::string>, std::vector<std::size_t>> groups_of;
  for (std::size_t i = 0; i < c.runs.size(); ++i) {
    std::vector<std::string> values;
    for (const std::string& name : c.settings) values.push_back(value_in(all[i], name));
    const std::size_t same = seeds[values][c.runs[i].run.seed]++;  // the same seed again is a group of its own
    std::vector<std::size_t>& places = groups_of[values];
    if (same == places.size()) {
      places.push_back(c.groups.size());
      c.groups.push_back({"", values});
    }
    c.groups[places[same]].runs.push_back(&c.runs[i]);
  }
  name_groups(c);
  return c;
}

std::optional<Spread> spread_of(const RunGroup& group,
                                const std::function<std::optional<double>(const RunData&)>& number) {
  std::vector<double> values;
  for (const ComparedRun* run : group.runs)
    if (const std::optional<double> value = number(run->run)) values.push_back(*value);
  const Spread spread = spread_of(values);
  return spread.count > 0 ? std::optional(spread) : std::nullopt;
}

std::optional<double> late_loss(const RunData& run) {
  if (run.only_norms || run.steps.empty()) return std::nullopt;
  const std::vector<double> losses = series(run, [](const StepRecord& s) { return s.loss; });
  return finite_median(last_tenth(losses));
}

std::optional<double> last_validation(const RunData& run) {
  for (auto s = run.steps.rbegin(); s != run.steps.rend(); ++s)
    if (s->validation_loss && std::isfinite(*s->validation_loss)) return s->validation_loss;
  return std::nullopt;
}

std::optional<double> depth_share(const RunData& run) { return depth_of(run).share; }

std::optional<double> lag_share(const RunData& run) {
  std::optional<double> least;
  for (const std::string& layer : names_in(run, &StepRecord::times))
    if (const std::optional<LagCurve> curve = lag_curve(run, layer)) {
      const double share = curve->share[std::min(static_cast<std::size_t>(limits::kLag), curve->share.size() - 1)];
      least = std::min(share, least.value_or(share));
    }
  return least;
}

std::optional<double> clipped_share(const RunData& run) {
  index_t steps = 0, clipped = 0;
  for (const StepRecord& s : run.steps) {
    steps += s.interval.steps;
    clipped += s.interval.clipped;
  }
  if (steps == 0) return std::nullopt;
  return static_cast<double>(clipped) / static_cast<double>(steps);
}

std::optional<double> spike_count(const RunData& run) { return static_cast<double>(spike_steps(run).size()); }

std::vector<CompareColumn> columns_of(const Comparison& comparison) {
  const std::string lag = std::to_string(limits::kLag);
  const std::vector<CompareColumn> all = {
      {"Training", "training loss, median of the last tenth", late_loss},
      {"Validation", "last validation loss", last_validation},
      {"Input ÷ output", "gradient of the first layer's output ÷ the last's, median step", depth_share},
      {"Lag " + lag + " ÷ 0", "gradient " + lag + " steps back ÷ lag 0, in the recurrent layer that forgets fastest",
       lag_share},
      {"Clipped", "share of the steps that were clipped", clipped_share, true},
      {"Spikes", "steps out of the ordinary", spike_count}};
  std::vector<CompareColumn> out;
  for (const CompareColumn& column : all)
    if (std::any_of(comparison.groups.begin(), comparison.groups.end(),
                    [&](const RunGroup& group) { return spread_of(group, column.number); }))
      out.push_back(column);
  return out;
}

GroupVerdict verdict_of(const RunGroup& group) {
  std::map<std::pair<Finding, std::string>, std::size_t> counts;
  for (const ComparedRun* run : group.runs)
    for (const Verdict& v : run->verdicts)
      if (v.finding < Finding::fine) ++counts[{v.finding, v.id}];
  if (counts.empty()) return {Finding::fine, "Healthy"};
  std::string text;
  for (const auto& [what, count] : counts) {
    text += (text.empty() ? "" : "; ") + verdict_title(what.second);
    if (group.runs.size() > 1) text += " (" + std::to_string(count) + " of " + std::to_string(group.runs.size()) + ")";
  }
  return {counts.begin()->first.first, text};
}

std::string states_of(const RunGroup& group) {
  std::map<RunState, std::size_t> counts;
  for (const ComparedRun* run : group.runs) ++counts[run->run.status.state];
  std::string out;
  for (const auto& [state, count] : counts)
    out += (out.empty() ? "" : ", ") + (counts.size() > 1 ? std::to_string(count) + " " : "") + state_name(state);
  return out;
}

bool all_finished(const RunGroup& group) {
  return std::all_of(group.runs.begin(), group.runs.end(),
                     [](const ComparedRun* run) { return run->run.status.state == RunState::finished; });
}

std::string compare_table(const Comparison& comparison) {
  const std::vector<CompareColumn> columns = columns_of(comparison);
  std::vector<std::vector<std::string>> rows = {{"runs", "seeds"}};
  for (const CompareColumn& column : columns) rows[0].push_back(column.name);
  const bool ended = std::all_of(comparison.groups.begin(), comparison.groups.end(), all_finished);
  if (!ended) rows[0].push_back("state");
  rows[0].push_back("verdict");
  for (const RunGroup& group : comparison.groups) {
    std::vector<std::string>& row = rows.emplace_back(std::vector{group.label, std::to_string(group.runs.size())});
    for (const CompareColumn& column : columns) {
      const std::optional<Spread> s = spread_of(group, column.number);
      const auto text = [&](double x) { return number_text(column.share ? 100 * x : x, "%.4g"); };
      std::string cell = s ? text(s->median) + (column.share ? " %" : "") : "-";
      if (s && text(s->low) != text(s->high)) cell += " (" + text(s->low) + " to " + text(s->high) + ")";
      row.push_back(cell);
    }
    if (!ended) row.push_back(states_of(group));
    row.push_back(verdict_of(group).text);
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      out += row[i] + std::string(widths[i] - text_width(row[i]) + 2, ' ');
    out += row.back() + "\n";
  }
  return out;
}

}  // namespace xtape

#include <xtape/inspect/report/chart_series.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>

namespace xtape {

namespace {

constexpr std::size_t kFewParameters = 12;
constexpr std::size_t kMostLines = 10;

/// Groups of names, in order of their first member.
struct Groups {
  std::vector<std::string> names = {};
  std::unordered_map<std::string, std::size_t> row_of = {};  ///< by member

  void add(const std::string& member, const std::string& group) {
    const auto at = std::find(names.begin(), names.end(), group);
    row_of[member] = static_cast<std::size_t>(at - names.begin());
    if (at == names.end()) names.push_back(group);
  }
};

/// Names of all parameters, in the order of the model.
std::vector<std::string> parameter_names(const RunData& run) {
  if (run.layout.empty()) return names_in(run, &StepRecord::parameters);
  std::vector<std::string> names;
  for (const ParameterInfo& p : run.layout) names.push_back(p.name);
  return names;
}

bool is_bias(const std::string& name) { return name.find("bias") != name.npos; }

Groups gradient_groups(const RunData& run) {
  const std::vector<std::string> names = parameter_names(run);
  Groups groups;
  for (const std::string& name : names) groups.add(name, names.size() <= kFewParameters ? name : layer_of(name));
  return groups;
}

/// Weights by block, at most kMostLines of them, evenly chosen.
Groups weight_groups(const RunData& run) {
  std::vector<std::string> weights;
  for (const std::string& name : parameter_names(run))
    if (!is_bias(name)) weights.push_back(name);
  Groups all;
  for (const std::string& name : weights) all.add(name, weights.size() <= kFewParameters ? name : block_of(name));
  Groups kept;
  const std::size_t count = std::min(all.names.size(), kMostLines);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = count == 1 ? 0 : i * (all.names.size() - 1) / (count - 1);
    for (const std::string& name : weights)
      if (all.row_of.at(name) == row) kept.add(name, all.names[row]);
  }
  return kept;
}

/// One number for each group and step: the joint norm of `above`, over that of `below` if given.
NamedEnvelope grouped(const RunData& run, const Buckets& buckets, const Groups& groups,
                      const std::function<double(const ParameterStats&)>& above,
                      const std::function<double(const ParameterStats&)>& below = {}) {
  EnvelopeBuilder maker(buckets, groups.names.size());
  for (const StepRecord& step : run.steps) {
    std::vector<double> tops(groups.names.size(), 0), bottoms(groups.names.size(), 0);
    std::vector<bool> seen(groups.names.size(), false);
    for (const ParameterStats& p : step.parameters) {
      const auto row = groups.row_of.find(p.name);
      if (row == groups.row_of.end()) continue;
      tops[row->second] = std::hypot(tops[row->second], above(p));
      if (below) bottoms[row->second] = std::hypot(bottoms[row->second], below(p));
      seen[row->second] = true;
    }
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (!seen[i]) continue;
      maker.add(i, step.step, below ? (tops[i] == 0 ? 0 : tops[i] / bottoms[i]) : tops[i]);
    }
  }
  std::vector<std::string> names;
  for (std::size_t r = 0; r < maker.rows(); ++r) {
    const std::string first = groups.names[maker.first_of(r)], last = groups.names[maker.last_of(r)];
    names.push_back(first == last ? first : first + " … " + last);
  }
  return {names, maker.bands()};
}

/// One number for each named element of a list in the records.
template <class Item>
NamedEnvelope by_name(const RunData& run, const Buckets& buckets, std::vector<Item> StepRecord::* list,
                      const std::vector<std::string>& names,
                      const std::function<std::optional<double>(const Item&)>& number) {
  std::unordered_map<std::string, std::size_t> row_of;
  for (const std::string& name : names) row_of.emplace(name, row_of.size());
  EnvelopeBuilder maker(buckets, names.size());
  for (const StepRecord& step : run.steps)
    for (const Item& item : step.*list)
      if (const auto row = row_of.find(item.name); row != row_of.end())
        if (const std::optional<double> value = number(item)) maker.add(row->second, step.step, *value);
  std::vector<std::string> kept;
  for (std::size_t r = 0; r < maker.rows(); ++r) {
    const std::string &first = names[maker.first_of(r)], &last = names[maker.last_of(r)];
    kept.push_back(first == last ? first : first + " … " + last);
  }
  return {kept, maker.bands()};
}

}  // namespace

std::string block_of(const std::string& parameter) {
  std::size_t begin = 0;
  for (std::size_t end; (end = parameter.find('.', begin)) != parameter.npos; begin = end + 1)
    if (std::all_of(parameter.begin() + static_cast<std::ptrdiff_t>(begin),
                    parameter.begin() + static_cast<std::ptrdiff_t>(end),
                    [](unsigned char c) { return std::isdigit(c); }))
      return parameter.substr(0, end);
  return parameter.substr(0, parameter.find('.'));
}

Envelope step_envelope(const RunData& run, const Buckets& buckets,
                       const std::function<std::optional<double>(const StepRecord&)>& number) {
  EnvelopeBuilder maker(buckets, 1);
  for (const StepRecord& step : run.steps)
    if (const std::optional<double> value = number(step)) maker.add(0, step.step, *value);
  return maker.bands();
}

Envelope loss_envelope(const RunData& run, const Buckets& buckets) {
  EnvelopeBuilder maker(buckets, 1);
  for (const StepRecord& s : run.steps) maker.add(0, s.step, s.loss, s.interval.loss_min, s.interval.loss_max);
  return maker.bands();
}

Envelope norm_envelope(const RunData& run, const Buckets& buckets) {
  EnvelopeBuilder maker(buckets, 1);
  for (const StepRecord& s : run.steps)
    maker.add(0, s.step, s.grad_norm, s.interval.grad_norm_min, s.interval.grad_norm_max);
  return maker.bands();
}

Envelope clipped_envelope(const RunData& run, const Buckets& buckets) {
  std::vector<index_t> steps(buckets.count(), 0), clipped(buckets.count(), 0);
  for (const StepRecord& s : run.steps) {
    steps[buckets.of(s.step)] += s.interval.steps;
    clipped[buckets.of(s.step)] += s.interval.clipped;
  }
  Envelope out{.rows = 1, .buckets = buckets.count()};
  for (std::size_t b = 0; b < buckets.count(); ++b)
    out.middle.push_back(steps[b] > 0 ? static_cast<double>(clipped[b]) / static_cast<double>(steps[b]) : NAN);
  out.low = out.high = out.middle;
  out.broken.assign(buckets.count(), 0);
  return out;
}

NamedEnvelope gradient_envelope(const RunData& run, const Buckets& buckets) {
  return grouped(run, buckets, gradient_groups(run), [](const ParameterStats& p) { return p.grad_norm; });
}

NamedEnvelope output_envelope(const RunData& run, const Buckets& buckets) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(run, &StepRecord::layers))
    if (std::any_of(run.steps.begin(), run.steps.end(), [&](const StepRecord& s) {
          const LayerStats* layer = named(s.layers, name);
          return layer && layer->output_grad_norm;
        }))
      names.push_back(name);
  return by_name<LayerStats>(run, buckets, &StepRecord::layers, names,
                             [](const LayerStats& l) { return l.output_grad_norm; });
}

NamedEnvelope ratio_envelope(const RunData& run, const Buckets& buckets) {
  return grouped(
      run, buckets, weight_groups(run), [](const ParameterStats& p) { return p.update_norm; },
      [](const ParameterStats& p) { return p.weight_norm; });
}

NamedEnvelope weight_envelope(const RunData& run, const Buckets& buckets) {
  return grouped(run, buckets, weight_groups(run), [](const ParameterStats& p) { return p.weight_norm; });
}

NamedEnvelope stddev_envelope(const RunData& run, const Buckets& buckets) {
  std::vector<std::string> all = layers_by_depth(run), names;
  const std::size_t count = std::min(all.size(), kMostLines);
  for (std::size_t i = 0; i < count; ++i) names.push_back(all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]);
  return by_name<LayerStats>(run, buckets, &StepRecord::layers, names,
                             [](const LayerStats& l) -> std::optional<double> { return l.stddev; });
}

NamedEnvelope unit_envelope(const RunData& run, const Buckets& buckets, const std::string& part,
                            const std::function<std::optional<double>(const UnitStats&)>& share) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(run, &StepRecord::units)) {
    if (!part.empty() && !name.ends_with("." + part) && name != part) continue;
    if (std::any_of(run.steps.begin(), run.steps.end(), [&](const StepRecord& s) {
          const UnitStats* units = named(s.units, name);
          return units && share(*units);
        }))
      names.push_back(name);
  }
  return by_name<UnitStats>(run, buckets, &StepRecord::units, names, share);
}

NamedEnvelope entropy_envelope(const RunData& run, const Buckets& buckets) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> first_row;
  for (const StepRecord& step : run.steps)
    for (const AttentionStats& a : step.attention)
      if (!first_row.contains(a.name)) {
        first_row[a.name] = names.size();
        for (std::size_t h = 0; h < a.entropy_share.size(); ++h) names.push_back(a.name + " head " + std::to_string(h));
      }
  EnvelopeBuilder maker(buckets, names.size());
  for (const StepRecord& step : run.steps)
    for (const AttentionStats& a : step.attention)
      for (std::size_t h = 0; h < a.entropy_share.size() && first_row[a.name] + h < names.size(); ++h)
        maker.add(first_row[a.name] + h, step.step, a.entropy_share[h]);
  names.resize(maker.rows());
  return {names, maker.bands()};
}

LagEnvelope lag_envelope(const RunData& run, const Buckets& buckets, const std::string& layer) {
  std::size_t lags = 0;
  for (const StepRecord& step : run.steps)
    if (const TimeStats* t = named(step.times, layer)) lags = std::max(lags, t->lag_norms().size());
  EnvelopeBuilder maker(buckets, lags);
  for (const StepRecord& step : run.steps) {
    const TimeStats* t = named(step.times, layer);
    if (!t) continue;
    const std::vector<double> norms = t->lag_norms();
    for (std::size_t lag = 0; lag < norms.size(); ++lag) maker.add(lag, step.step, norms[lag]);
  }
  LagEnvelope out{maker.bands(), {}, {}};
  for (std::size_t r = 0; r < maker.rows(); ++r) {
    out.first.push_back(static_cast<index_t>(maker.first_of(r)));
    out.last.push_back(static_cast<index_t>(maker.last_of(r)));
  }
  return out;
}

}  // namespace xtape

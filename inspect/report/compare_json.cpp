// The data of the comparison page: a line for each group of runs, with a band from the lowest to the highest seed.
#include <xtape/data/json.hpp>
#include <xtape/inspect/report/chart_json.hpp>
#include <xtape/inspect/report/chart_series.hpp>
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDrawn = 24;  // groups whose curves are in the page

const char* const kOfSeeds = "; line: median of the seeds, band: the least to the greatest seed";

/// The first kMostDrawn groups.
std::vector<const RunGroup*> drawn_groups(const Comparison& c) {
  std::vector<const RunGroup*> out;
  for (const RunGroup& group : c.groups)
    if (out.size() < kMostDrawn) out.push_back(&group);
  return out;
}

std::vector<std::string> labels_of(const std::vector<const RunGroup*>& groups) {
  std::vector<std::string> out;
  for (const RunGroup* group : groups) out.push_back(group->label);
  return out;
}

/// One row for each group, from one row of values for each run. Columns after the end of a run are absent.
Envelope over_seeds(const std::vector<const RunGroup*>& groups, std::size_t places,
                    const std::function<std::vector<double>(const RunData&)>& row) {
  Envelope out{.rows = groups.size(), .buckets = places};
  for (const RunGroup* group : groups) {
    std::vector<std::vector<double>> values(places);
    std::vector<index_t> broken(places, 0);
    for (const ComparedRun* run : group->runs) {
      const std::vector<double> of_run = row(run->run);
      for (std::size_t i = 0; i < std::min(places, of_run.size()); ++i)
        if (std::isfinite(of_run[i])) values[i].push_back(of_run[i]);
        else if (!std::isnan(of_run[i])) ++broken[i];
    }
    for (std::size_t i = 0; i < places; ++i) {
      const double none = broken[i] > 0 ? INFINITY : NAN;
      const std::optional<double> middle = finite_median(values[i]);
      out.middle.push_back(middle.value_or(none));
      out.low.push_back(middle ? *std::min_element(values[i].begin(), values[i].end()) : none);
      out.high.push_back(middle ? *std::max_element(values[i].begin(), values[i].end()) : none);
      out.broken.push_back(broken[i]);
    }
  }
  return out;
}

/// A chart over steps of one number; null if no run has it.
Json step_chart(const std::vector<const RunGroup*>& groups, const Buckets& buckets, const std::string& id,
                const std::string& title, const std::string& unit, const std::string& scale,
                const std::function<Envelope(const RunData&)>& bands) {
  const Envelope medians = over_seeds(groups, buckets.count(), [&](const RunData& run) { return bands(run).middle; });
  if (!medians.any()) return nullptr;
  Json chart = chart_json<Json>(id, title, "", unit + kOfSeeds, scale, labels_of(groups), medians);
  chart["tone"] = "runs";
  return chart;
}

/// A chart over lags or layers.
Json place_chart(const std::vector<const RunGroup*>& groups, const std::string& id, const std::string& title,
                 const std::string& text, const std::string& unit, std::size_t places,
                 const std::function<std::vector<double>(const RunData&)>& row) {
  Json chart =
      chart_json<Json>(id, title, text, unit + kOfSeeds, "log", labels_of(groups), over_seeds(groups, places, row));
  chart["tone"] = "runs";
  for (std::size_t i = 0; i < places; ++i) chart["places"].push_back(i);
  return chart;
}

/// Norms of dL/d output, medians of the last tenth, from input to output.
std::vector<double> norms_by_depth(const RunData& run) {
  std::vector<double> out;
  for (const std::string& name : layers_by_depth(run)) {
    std::vector<double> norms;
    for (const StepRecord& step : run.steps)
      if (const LayerStats* layer = named(step.layers, name); layer && layer->output_grad_norm)
        norms.push_back(*layer->output_grad_norm);
    out.push_back(norms.empty() ? NAN : finite_median(last_tenth(norms)).value_or(INFINITY));
  }
  return out;
}

/// Gradient by lag of the recurrent layer with the fastest decay.
std::vector<double> shares_by_lag(const RunData& run) {
  std::optional<LagCurve> worst;
  for (const std::string& layer : names_in(run, &StepRecord::times))
    if (const std::optional<LagCurve> curve = lag_curve(run, layer); curve && (!worst || curve->rate < worst->rate))
      worst = curve;
  return worst ? worst->share : std::vector<double>();
}

std::size_t most_places(const std::vector<const RunGroup*>& groups,
                        const std::function<std::vector<double>(const RunData&)>& row) {
  std::size_t most = 0;
  for (const RunGroup* group : groups)
    for (const ComparedRun* run : group->runs) most = std::max(most, row(run->run).size());
  return most;
}

/// The joint norm of all weights, or of their updates.
Envelope joint(const RunData& run, const Buckets& buckets, double ParameterStats::* number) {
  return step_envelope(run, buckets, [&](const StepRecord& s) -> std::optional<double> {
    if (s.parameters.empty()) return std::nullopt;
    double norm = 0;
    for (const ParameterStats& p : s.parameters) norm = std::hypot(norm, p.*number);
    return norm;
  });
}

/// Names of the layers, if they are equal in all groups.
Json common_layers(const std::vector<const RunGroup*>& groups) {
  std::optional<std::vector<std::string>> names;
  for (const RunGroup* group : groups)
    for (const ComparedRun* run : group->runs) {
      const std::vector<std::string> layers = layers_by_depth(run->run);
      if (!layers.empty() && names.value_or(layers) != layers) return nullptr;
      if (!layers.empty()) names = layers;
    }
  return names ? Json(*names) : Json();
}

Json charts_of(const std::vector<const RunGroup*>& groups, const Buckets& buckets) {
  Json loss = Json::array(), norms = Json::array(), flow = Json::array(), weights = Json::array();
  const auto by_step = [&](Json& part, const char* id, const char* title, const char* unit, const char* scale,
                           const std::function<Envelope(const RunData&)>& bands) {
    Json chart = step_chart(groups, buckets, id, title, unit, scale, bands);
    if (!chart.is_null()) part.push_back(std::move(chart));
  };
  by_step(loss, "loss", "Training loss", "As the scripts compute it", "auto",
          [&](const RunData& r) { return loss_envelope(r, buckets); });
  by_step(loss, "validation", "Validation loss", "As the scripts compute it", "auto", [&](const RunData& r) {
    return step_envelope(r, buckets, [](const StepRecord& s) { return s.validation_loss; });
  });
  by_step(norms, "norm", "Global gradient norm", "2-norm before clipping, log scale", "log",
          [&](const RunData& r) { return norm_envelope(r, buckets); });
  by_step(norms, "clipped", "Clipping", "Share of the steps that were clipped", "share",
          [&](const RunData& r) { return clipped_envelope(r, buckets); });
  if (const std::size_t places = most_places(groups, norms_by_depth); places > 1) {
    Json chart =
        place_chart(groups, "depth", "Gradient norm by depth", "From the input side, left, to the output side, right.",
                    "Norm of dL/d output of each layer, median of the last tenth, log scale", places, norms_by_depth);
    const Json names = common_layers(groups);
    for (std::size_t i = 0; i < places; ++i)
      chart["labels"].push_back(names.is_array() ? names[i] : Json("layer " + std::to_string(i + 1)));
    flow.push_back(std::move(chart));
  }
  if (const std::size_t places = most_places(groups, shares_by_lag); places > 1)
    flow.push_back(place_chart(groups, "lag", "Gradient by lag",
                               "What is left of the last step's gradient, steps back in time.",
                               "Share of lag 0, median over the run, log scale", places, shares_by_lag));
  by_step(weights, "weights", "Weight norm", "2-norm of all parameters after the update", "weights",
          [&](const RunData& r) { return joint(r, buckets, &ParameterStats::weight_norm); });
  by_step(weights, "updates", "Update norm", "2-norm of what a step changes, log scale", "log",
          [&](const RunData& r) { return joint(r, buckets, &ParameterStats::update_norm); });
  Json sections = Json::array();
  for (const auto& [name, parts] : std::vector<std::pair<const char*, Json>>{
           {"Loss", loss}, {"Gradient norm", norms}, {"Depth and lag", flow}, {"Weights", weights}})
    if (!parts.empty()) sections.push_back({{"name", name}, {"parts", parts}});
  return sections;
}

}  // namespace

std::string compare_json(const Comparison& comparison) {
  std::vector<const std::vector<StepRecord>*> steps;
  for (const ComparedRun& run : comparison.runs) steps.push_back(&run.run.steps);
  const Buckets buckets(steps);
  const std::vector<const RunGroup*> groups = drawn_groups(comparison);
  Json json = {{"kind", "compare"},
               {"axis", axis_json<Json>(buckets)},
               {"groups", labels_of(groups)},
               {"sections", Json::array()}};
  if (buckets.count() > 0) json["sections"] = charts_of(groups, buckets);
  return json_text(json);
}

}  // namespace xtape

// The data of the report page: charts, heat maps and attention, each with a caption.
#include <xtape/core/number_text.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/report/captions.hpp>
#include <xtape/inspect/report/chart_json.hpp>
#include <xtape/inspect/report/chart_series.hpp>
#include <xtape/inspect/report/report_page.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

using Json = nlohmann::ordered_json;

Json lines(const std::string& id, const std::string& title, const std::string& text, const std::string& unit,
           const std::string& scale, const NamedEnvelope& bands) {
  return chart_json<Json>(id, title, text, unit, scale, bands.names, bands.bands);
}

std::optional<double> clip_limit(const RunData& run) {
  for (const auto& [name, value] : run.options)
    if (name == "clip")
      if (const std::optional<double> limit = read_number(value); limit && *limit > 0 && std::isfinite(*limit))
        return limit;
  return std::nullopt;
}

Json loss_chart(const RunData& run, const Buckets& buckets) {
  Json chart = lines("loss", "Loss", loss_sentence(run),
                     "As the script computes it; band: the least and the greatest of all steps", "auto",
                     {{"train"}, loss_envelope(run, buckets)});
  Json points = Json::array();
  for (const StepRecord& s : run.steps)
    if (s.validation_loss) points.push_back({s.step, json_number<Json>(*s.validation_loss)});
  chart["points"] = {{"name", "validation"}, {"values", points}};
  if (!run.steps.empty() && run.steps.front().classes.value_or(0) > 1) {
    const index_t classes = *run.steps.front().classes;
    add_guide(chart, std::log(static_cast<double>(classes)), "ln " + std::to_string(classes) + ": knowing nothing");
  }
  return chart;
}

Json norm_chart(const RunData& run, const Buckets& buckets) {
  Json chart = lines("norm", "Global gradient norm", norm_sentence(run),
                     "2-norm of all gradients before clipping, log scale; band: all steps; ▼ spike", "log",
                     {{"global norm"}, norm_envelope(run, buckets)});
  chart["marks"] = true;
  if (const std::optional<double> limit = clip_limit(run)) add_guide(chart, *limit, "clip at " + plain(*limit));
  return chart;
}

/// The rows at which a new block begins.
Json cuts(const std::vector<std::string>& names) {
  Json out = Json::array();
  for (std::size_t i = 1; i < names.size(); ++i)
    if (block_of(names[i] + ".") != block_of(names[i - 1] + ".")) out.push_back(i);
  return out;
}

Json map_json(const std::string& name, const std::string& text, const NamedEnvelope& bands) {
  return {{"name", name},
          {"text", text},
          {"rows", bands.names},
          {"cuts", cuts(bands.names)},
          {"data", Json::parse(envelope_json(bands.bands))}};
}

Json maps_json(const RunData& run, const Buckets& buckets) {
  Json out = Json::array();
  const NamedEnvelope weights = gradient_envelope(run, buckets), outputs = output_envelope(run, buckets);
  if (weights.bands.any())
    out.push_back(map_json("Weights", rows_sentence("The gradient of each layer's weights", weights), weights));
  if (outputs.bands.any())
    out.push_back(map_json("Outputs", rows_sentence("The gradient of each layer's output", outputs), outputs));
  return out;
}

Json times_json(const RunData& run, const Buckets& buckets) {
  Json out = Json::array();
  std::vector<std::string> layers = names_in(run, &StepRecord::times);
  std::sort(layers.begin(), layers.end());
  for (const std::string& layer : layers) {
    const LagEnvelope lags = lag_envelope(run, buckets, layer);
    if (!lags.bands.any()) continue;
    out.push_back({{"name", layer},
                   {"text", lags_sentence(lags)},
                   {"first", lags.first},
                   {"last", lags.last},
                   {"data", Json::parse(envelope_json(lags.bands))}});
  }
  return out;
}

Json update_charts(const RunData& run, const Buckets& buckets) {
  Json out = Json::array();
  const NamedEnvelope ratios = ratio_envelope(run, buckets), weights = weight_envelope(run, buckets);
  if (ratios.bands.any()) {
    Json& chart =
        out.emplace_back(lines("ratio", "Update ÷ weight", ratio_sentence(ratios),
                               "Size of one update ÷ size of the weights (2-norms), log scale", "log", ratios));
    add_guide(chart, 1e-3, "guide 10⁻³");
  }
  if (weights.bands.any())
    out.push_back(
        lines("weights", "Weight norm", growth_sentence(weights), "2-norm after the update", "weights", weights));
  return out;
}

Json step_charts(const RunData& run, const Buckets& buckets, const std::vector<Verdict>& verdicts) {
  Json out = Json::array();
  Json clipping = lines("clipping", "Clipping", verdict_sentence(verdicts, "clipping"),
                        "Share of the steps that were clipped", "share", {{"clipped"}, clipped_envelope(run, buckets)});
  clipping["bars"] = true;
  add_guide(clipping, limits::kClipped, "half of the steps");
  out.push_back(clipping);
  out.push_back(
      lines("lr", "Learning rate", rate_sentence(run), "Log scale", "log",
            {{"learning rate"}, step_envelope(run, buckets, [](const StepRecord& s) { return std::optional(s.lr); })}));
  return out;
}

/// The rows whose median is above a limit.
Json flagged(const NamedEnvelope& bands, double limit) {
  Json out = Json::array();
  for (std::size_t r = 0; r < bands.names.size(); ++r)
    if (const std::optional<double> middle = row_median(bands.bands, r); middle && *middle > limit) out.push_back(r);
  return out;
}

void add_units(Json& out, const RunData& run, const Buckets& buckets, const std::string& id, const std::string& title,
               const std::string& text, const std::string& part, double limit,
               const std::function<std::optional<double>(const UnitStats&)>& share) {
  const NamedEnvelope bands = unit_envelope(run, buckets, part, share);
  if (!bands.bands.any()) return;
  Json& chart =
      out.emplace_back(lines(id, title, text + " " + highest_sentence(bands), "Share of all values", "share", bands));
  chart["flagged"] = flagged(bands, limit);
  add_guide(chart, limit, "limit " + percent_text(limit), true);
}

Json unit_charts(const RunData& run, const Buckets& buckets) {
  Json out = Json::array();
  const auto flat = [](const UnitStats& u) -> std::optional<double> {
    if (!u.low || !u.high) return std::nullopt;
    return *u.low + *u.high;
  };
  add_units(out, run, buckets, "dead", "Dead units", "Units of a relu that are 0 for the whole batch.", "",
            limits::kDead, [](const UnitStats& u) { return u.dead; });
  for (const char* part : {"hidden", "tanh", "sigmoid"})
    add_units(out, run, buckets, part, std::string("Saturation: ") + (part == std::string("hidden") ? "states" : part),
              "Values within 0.05 of their ends pass little gradient.", part, limits::kSaturated, flat);
  for (const char* gate : {"input", "forget", "output", "reset", "update"})
    add_units(out, run, buckets, gate, std::string("Gate: ") + gate, "Values within 0.05 of shut or open.", gate,
              limits::kSaturatedGate, flat);
  for (const char* part : {"cell", "candidate"})
    add_units(out, run, buckets, part, std::string("Gate: ") + part, "Values within 0.05 of −1 or 1.", part,
              limits::kSaturatedGate, flat);
  const NamedEnvelope stddevs = stddev_envelope(run, buckets);
  if (stddevs.bands.any())
    out.push_back(lines("deviation", "Size of outputs", growth_sentence(stddevs),
                        "Standard deviation of each layer's output", "weights", stddevs));
  return out;
}

Json attention_json(const RunData& run, const Buckets& buckets) {
  const AttentionMaps maps = read_attention(run.directory);
  const NamedEnvelope entropy = entropy_envelope(run, buckets);
  Json out = {{"names", entropy.names},
              {"warnings", maps.warnings},
              {"entropy", Json::parse(envelope_json(entropy.bands))},
              {"text", attention_sentence(maps, entropy)}};
  if (!maps.any()) return out;
  out["shape"] = {maps.layers, maps.heads, maps.queries, maps.keys};
  out["tokens"] = maps.tokens;
  for (const AttentionMap& map : maps.steps) {
    std::string bytes;  // square roots keep small weights distinct
    for (double p : map.weights)
      bytes += static_cast<char>(std::lround(std::sqrt(std::clamp(std::isfinite(p) ? p : 0, 0.0, 1.0)) * 255));
    Json shares = Json::array();
    for (double share : entropy_shares(maps, map)) shares.push_back(std::round(share * 1000) / 1000);
    out["steps"].push_back({{"step", map.step}, {"weights", base64(bytes)}, {"entropy", shares}});
  }
  return out;
}

}  // namespace

std::string report_json(const RunData& run, const std::vector<Verdict>& verdicts) {
  const Buckets buckets(run.steps);
  Json json = {{"kind", "report"}, {"name", run_name(run)}, {"axis", axis_json<Json>(buckets)}};
  json["spikes"] = spike_steps(run);
  if (run.steps.empty()) return json_text(json);
  json["sections"] = Json::array();
  const auto section = [&](const std::string& name, Json parts) {
    if (!parts.empty()) json["sections"].push_back({{"name", name}, {"parts", std::move(parts)}});
  };
  const auto map_part = [](const char* kind, Json data) {
    return data.empty() ? Json::array() : Json::array({{{"kind", kind}, {"maps", std::move(data)}}});
  };
  section("Through time", map_part("lags", times_json(run, buckets)));
  if (run.only_norms) section("Norm", Json::array({norm_chart(run, buckets)}));
  else section("Loss", Json::array({loss_chart(run, buckets), norm_chart(run, buckets)}));
  section("Gradients", map_part("layers", maps_json(run, buckets)));
  section("Updates", update_charts(run, buckets));
  if (!run.only_norms) section("Clipping", step_charts(run, buckets, verdicts));
  section("Activations", unit_charts(run, buckets));
  if (Json attention = attention_json(run, buckets); !attention["names"].empty() || attention.contains("steps")) {
    attention["kind"] = "attention";
    section("Attention", Json::array({attention}));
  }
  return json_text(json);
}

}  // namespace xtape

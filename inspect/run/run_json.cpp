#include <xtape/core/error.hpp>
#include <xtape/data/json_numbers.hpp>
#include <xtape/data/json_text.hpp>
#include <xtape/inspect/run/machine.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

using Json = nlohmann::ordered_json;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string number_text(double value, const char* format) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  char text[64];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, format, value))};
}

std::string run_json(const RunInfo& info) {
  Json options = Json::object();
  for (const auto& [name, value] : info.options)
    std::visit([&, &key = name](const auto& v) { options[key] = v; }, value);
  Json json = {{"format_version", kRunFormat},
               {"program", info.program},
               {"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
               {"options", options},
               {"seed", info.seed},
               {"parameters", info.parameters},
               {"version", version()},
               {"flavour", info.dtype},
               {"compiler", compiler()},
               {"cpu", cpu_name()},
               {"isa", info.isa},
               {"blas", info.blas},
               {"threads", info.threads}};
  for (const ParameterInfo& p : info.layout)
    json["layout"].push_back({{"name", p.name}, {"shape", p.shape}, {"trainable", p.trainable}});
  return json_text(json, 2) + "\n";
}

std::string resumed_run_json(const std::string& before, const RunInfo& info, index_t steps) {
  Json json = shallow_json<Json>(before);
  const bool whole = json.is_object() && json.contains("options") && json["options"].is_object();
  if (!whole || (json.contains("resumed") && !json["resumed"].is_array()))
    throw FileError("run_log", "run.json is damaged");
  json["options"]["steps"] = steps;
  json["resumed"].push_back({{"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
                             {"version", version()},
                             {"cpu", cpu_name()},
                             {"isa", info.isa},
                             {"blas", info.blas},
                             {"threads", info.threads}});
  return json_text(json, 2) + "\n";
}

std::optional<index_t> step_of_json_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const bool good = json.is_object() && json.contains("step") && holds_integer<index_t>(json["step"]) &&
                    json.value("kind", Json()) != "finished";
  return good ? json["step"].get<index_t>() : std::numeric_limits<index_t>::max();
}

std::optional<index_t> step_of_csv_row(std::string_view row) {
  index_t step = 0;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

std::string grad_norms_row(index_t step, const char* kind, const std::string& name, double value, index_t time) {
  return std::to_string(step) + "," + kind + "," + csv_field(name) + "," + (time < 0 ? "" : std::to_string(time)) +
         "," + number_text(value) + "\n";
}

std::string grad_norms_rows(const StepRecord& r) {
  std::string rows;
  for (const ParameterStats& p : r.parameters)
    rows += grad_norms_row(r.step, "grad_norm_preclip", p.name, p.grad_norm) +
            grad_norms_row(r.step, "weight_norm", p.name, p.weight_norm) +
            grad_norms_row(r.step, "update_norm", p.name, p.update_norm) +
            grad_norms_row(r.step, "update_ratio", p.name, p.update_ratio);
  for (const LayerStats& layer : r.layers)
    if (layer.output_grad_norm) rows += grad_norms_row(r.step, "output_grad_norm", layer.name, *layer.output_grad_norm);
  for (const TimeStats& times : r.times) {
    const auto by_time = [&](const char* kind, const std::vector<double>& norms) {
      for (std::size_t t = 0; t < norms.size(); ++t)
        rows += grad_norms_row(r.step, kind, times.name, norms[t], static_cast<index_t>(t));
    };
    by_time("hidden_grad_norm", times.hidden);
    by_time("cell_grad_norm", times.cell);
    by_time("lag_hidden_grad_norm", times.lag_hidden);
    by_time("lag_cell_grad_norm", times.lag_cell);
  }
  return rows + grad_norms_row(r.step, "total_preclip", "all", r.grad_norm);
}

}  // namespace xtape

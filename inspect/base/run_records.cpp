#include <xtape/core/error.hpp>
#include <xtape/inspect/base/machine.hpp>
#include <xtape/inspect/base/run_records.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

namespace {

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(number_text(value)); }

/// Text from outside may be any bytes; those that are not UTF-8 become U+FFFD.
std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

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
  const Json json = {{"format_version", kRunFormat},
                     {"program", info.program},
                     {"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
                     {"options", options},
                     {"seed", info.seed},
                     {"parameters", info.parameters},
                     {"version", version()},
                     {"flavour", info.flavour},
                     {"compiler", compiler()},
                     {"cpu", cpu_name()},
                     {"isa", info.isa},
                     {"blas", info.blas},
                     {"threads", info.threads}};
  return dump(json, 2) + "\n";
}

std::string resumed_run_json(const std::string& before, const RunInfo& info, index_t steps) {
  Json json = Json::parse(before, nullptr, false);
  if (!json.is_object() || !json.contains("options") || !json["options"].is_object())
    throw FileError("run_log", "run.json is damaged");
  json["options"]["steps"] = steps;
  json["resumed"].push_back({{"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
                             {"version", version()},
                             {"cpu", cpu_name()},
                             {"isa", info.isa},
                             {"blas", info.blas},
                             {"threads", info.threads}});
  return dump(json, 2) + "\n";
}

std::optional<index_t> step_of_json_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const bool good = json.is_object() && json.contains("step") && json["step"].is_number_integer();
  return good ? json["step"].get<index_t>() : std::numeric_limits<index_t>::max();
}

std::optional<index_t> step_of_csv_row(std::string_view row) {
  index_t step = 0;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

std::string metrics_line(index_t step, const StepMetrics& metrics, const Wall& wall) {
  Json json = {{"format_version", kRunFormat}, {"step", step}, {"loss", json_number(metrics.loss)}};
  if (metrics.validation_loss) json["validation_loss"] = json_number(*metrics.validation_loss);
  json["lr"] = json_number(metrics.lr);
  if (metrics.grad_norm) json["grad_norm_preclip"] = json_number(*metrics.grad_norm);
  json["wall"] = {{"seconds", wall.seconds}, {"memory_bytes", wall.memory_bytes}};
  if (wall.tokens_per_second) json["wall"]["tokens_per_second"] = *wall.tokens_per_second;
  return dump(json, -1) + "\n";
}

std::string grad_norms_row(index_t step, const char* kind, const std::string& name, double value) {
  return std::to_string(step) + "," + kind + "," + csv_field(name) + ",," + number_text(value) + "\n";
}

}  // namespace xtape

#include <xtape/inspect/base/machine.hpp>
#include <xtape/inspect/base/run_records.hpp>

#include <cmath>
#include <cstdio>
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

#include <xtape/core/number_text.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace xtape {

namespace {

/// Quotes a field where CSV requires it.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

/// The five fields of a row; none if the row has another number of them. A quoted name may not contain a line end.
std::vector<std::string> fields_of(std::string_view row) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') fields.back() += c, ++i;
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  if (fields.size() != 5 || quoted) fields.clear();
  return fields;
}

template <class T>
bool read(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void put(std::vector<double>& values, index_t at, double value) {
  constexpr index_t kMostSteps = 1 << 20;  // a larger time step is not from a run
  if (at < 0 || at > kMostSteps) return;
  if (std::ssize(values) <= at) values.resize(static_cast<std::size_t>(at) + 1);
  values[at] = value;
}

void put(StepRecord& record, const std::string& kind, const std::string& name, index_t time, double value) {
  if (kind == "total_preclip") record.grad_norm = value;
  else if (kind == "grad_norm_preclip") find_or_add(record.parameters, name).grad_norm = value;
  else if (kind == "weight_norm") find_or_add(record.parameters, name).weight_norm = value;
  else if (kind == "update_norm") find_or_add(record.parameters, name).update_norm = value;
  else if (kind == "update_ratio") find_or_add(record.parameters, name).update_ratio = value;
  else if (kind == "output_grad_norm" && time < 0) find_or_add(record.layers, name).output_grad_norm = value;
  else if (kind.ends_with("_grad_norm")) put(*find_or_add(record.times, name).norms_of(kind), time, value);
}

}  // namespace

std::optional<index_t> step_of_csv_row(std::string_view row) {
  index_t step = 0;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

std::string grad_norms_row(index_t step, const std::string& kind, const std::string& name, double value, index_t time) {
  return std::to_string(step) + "," + csv_field(kind) + "," + csv_field(name) + "," +
         (time < 0 ? "" : std::to_string(time)) + "," + number_text(value, "%.9g") + "\n";
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
  for (const TimeStats& times : r.times)
    for (const auto& [kind, norms] : times.kinds())
      for (std::size_t t = 0; t < norms->size(); ++t)
        rows += grad_norms_row(r.step, kind, times.name, (*norms)[t], static_cast<index_t>(t));
  return rows + grad_norms_row(r.step, "total_preclip", "all", r.grad_norm);
}

void add_norms_row(std::vector<StepRecord>& steps, std::string_view row) {
  const std::vector<std::string> fields = fields_of(row);
  index_t step = 0, time = -1;
  double value = 0;  // from_chars knows "inf" and "nan" in any case
  if (fields.empty() || !read(fields[0], step) || !read(fields[4], value)) return;
  if (!fields[3].empty() && !read(fields[3], time)) return;
  while (!steps.empty() && steps.back().step > step) steps.pop_back();
  if (steps.empty() || steps.back().step != step) {
    const StepRecord* before = steps.empty() ? nullptr : &steps.back();
    StepRecord record;
    record.step = step;
    record.loss = record.lr = std::numeric_limits<double>::quiet_NaN();
    if (before) record.parameters.reserve(before->parameters.size());
    steps.push_back(std::move(record));
  }
  put(steps.back(), fields[1], fields[2], time, value);
}

}  // namespace xtape

#include <xtape/inspect/run/norms_csv.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace xtape {

namespace {

/// The fields of a row; nothing if it is not step,kind,name,t,value. A quoted name has no line end here.
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

template <class Named>
Named& named(std::vector<Named>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Named& x) { return x.name == name; });
  if (found != list.end()) return *found;
  list.emplace_back().name = name;
  return list.back();
}

void put(std::vector<double>& values, index_t at, double value) {
  constexpr index_t kMostSteps = 1 << 20;  // a time step beyond is not one that a run has written
  if (at < 0 || at > kMostSteps) return;
  if (static_cast<index_t>(values.size()) <= at) values.resize(static_cast<std::size_t>(at) + 1);
  values[static_cast<std::size_t>(at)] = value;
}

void put(StepRecord& record, const std::string& kind, const std::string& name, index_t time, double value) {
  if (kind == "total_preclip") record.grad_norm = value;
  else if (kind == "grad_norm_preclip") named(record.parameters, name).grad_norm = value;
  else if (kind == "weight_norm") named(record.parameters, name).weight_norm = value;
  else if (kind == "update_norm") named(record.parameters, name).update_norm = value;
  else if (kind == "update_ratio") named(record.parameters, name).update_ratio = value;
  else if (kind == "output_grad_norm") named(record.layers, name).output_grad_norm = value;
  else if (kind == "hidden_grad_norm") put(named(record.times, name).hidden, time, value);
  else if (kind == "cell_grad_norm") put(named(record.times, name).cell, time, value);
  else if (kind == "lag_hidden_grad_norm") put(named(record.times, name).lag_hidden, time, value);
  else if (kind == "lag_cell_grad_norm") put(named(record.times, name).lag_cell, time, value);
}

}  // namespace

std::vector<StepRecord> steps_of_norms(std::string_view csv) {
  std::vector<StepRecord> steps;
  for (std::size_t end; (end = csv.find('\n')) != csv.npos; csv.remove_prefix(end + 1)) {
    const std::vector<std::string> fields = fields_of(csv.substr(0, end));
    index_t step = 0, time = -1;
    double value = 0;  // from_chars knows "inf" and "nan" in any case
    if (fields.empty() || !read(fields[0], step) || !read(fields[4], value)) continue;
    if (!fields[3].empty() && !read(fields[3], time)) continue;
    while (!steps.empty() && steps.back().step > step) steps.pop_back();
    if (steps.empty() || steps.back().step != step) {
      StepRecord& record = steps.emplace_back();
      record.step = step;
      record.loss = record.lr = std::numeric_limits<double>::quiet_NaN();
    }
    put(steps.back(), fields[1], fields[2], time, value);
  }
  return steps;
}

}  // namespace xtape

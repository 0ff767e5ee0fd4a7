#include <xtape/core/error.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

namespace {

std::map<std::string, std::vector<index_t>> lists_by_name(const Json& json) {
  std::map<std::string, std::vector<index_t>> out;
  for (const auto& [name, list] : json.get_ref<const Json::object_t&>()) out[name] = integers_of<index_t>(list);
  return out;
}

}  // namespace

std::string log_state_text(const LogState& state) {
  const auto numbers = [](const auto& values) {
    Json out = Json::array();
    for (const double x : values) out.push_back(json_number<Json>(x));
    return out;
  };
  const BatchHistory& measured = state.measured;
  Json json{{"any_logged", state.any_logged},
            {"interval", interval_json(state.since_logged)},
            {"losses", numbers(state.watched.losses)},
            {"norms", numbers(state.watched.norms)},
            {"log_norms", numbers(state.watched.log_norms)},
            {"events", state.events},
            {"dumps", state.dumps},
            {"optimizer_told", state.optimizer_told},
            {"idle", measured.idle},
            {"batches", measured.batches},
            {"repeats", measured.repeats}};
  if (measured.input) json["input"] = *measured.input;
  if (state.gradients) {
    json["gradient"] = numbers(state.gradients->last);
    json["untouched"] = state.gradients->untouched;
  }
  return json.dump();
}

LogState log_state(const std::string& text) {
  if (text.empty()) return {};
  const std::string refused = "not the state of a run log: '" + text.substr(0, 80) + "'";
  try {
    const Json json = parse_json<Json>(text);
    const std::optional<IntervalStats> interval = read_interval_json(json.at("interval").get<std::string>());
    if (!interval) throw ValueError("run_log", refused);
    LogState out{.any_logged = json.at("any_logged").get<bool>(), .since_logged = *interval};
    const auto read = [&json](const char* key, auto& values) {
      for (const Json& x : json.at(key)) values.push_back(number_of(x));
    };
    read("losses", out.watched.losses);
    read("norms", out.watched.norms);
    read("log_norms", out.watched.log_norms);
    out.events = integers_by_name<index_t>(json.at("events"));
    out.dumps = integer_of<index_t>(json.at("dumps"));
    if (!json.contains("optimizer_told")) return out;  // of an older version
    out.optimizer_told = json.at("optimizer_told").get<bool>();
    out.measured.idle = lists_by_name(json.at("idle"));
    out.measured.batches = integers_by_name<index_t>(json.at("batches"));
    out.measured.repeats = integer_of<index_t>(json.at("repeats"));
    if (json.contains("input")) out.measured.input = integer_of<std::uint64_t>(json.at("input"));
    if (json.contains("gradient")) {
      read("gradient", out.gradients.emplace().last);
      out.gradients->untouched = lists_by_name(json.at("untouched"));
    }
    return out;
  } catch (const Json::exception&) {
    throw ValueError("run_log", refused);
  }
}

}  // namespace xtape

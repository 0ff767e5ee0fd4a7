#include <xtape/core/error.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

std::string log_state_text(const LogState& state) {
  return Json{{"any_logged", state.any_logged},
              {"interval", interval_json(state.since_logged)},
              {"losses", state.watched.losses},
              {"norms", state.watched.norms},
              {"log_norms", state.watched.log_norms},
              {"events", state.events},
              {"dumps", state.dumps}}
      .dump();
}

LogState log_state(const std::string& text) {
  if (text.empty()) return {};
  const std::string refused = "not the state of a run log: '" + text.substr(0, 80) + "'";
  try {
    const Json json = Json::parse(text);
    const std::optional<IntervalStats> interval = read_interval_json(json.at("interval").get<std::string>());
    if (!interval) throw ValueError("run_log", refused);
    LogState out{.any_logged = json.at("any_logged").get<bool>(), .since_logged = *interval};
    json.at("losses").get_to(out.watched.losses);
    json.at("norms").get_to(out.watched.norms);
    json.at("log_norms").get_to(out.watched.log_norms);
    out.events = integers_by_name<index_t>(json.at("events"));
    out.dumps = integer_of<index_t>(json.at("dumps"));
    return out;
  } catch (const Json::exception&) {
    throw ValueError("run_log", refused);
  }
}

}  // namespace xtape

#include <xtape/core/error.hpp>
#include <xtape/inspect/base/log_state.hpp>

#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

std::string log_state_text(const LogState& state) {
  const IntervalNumbers& i = state.since_logged;
  return Json{{"any_logged", state.any_logged},
              {"steps", i.steps},
              {"clipped", i.clipped},
              {"skipped", i.skipped},
              {"extremes", {i.loss_min, i.loss_max, i.grad_norm_min, i.grad_norm_max}},
              {"losses", state.watched.losses},
              {"norms", state.watched.norms},
              {"log_norms", state.watched.log_norms},
              {"events", state.events},
              {"dumps", state.dumps}}
      .dump();
}

LogState log_state(const std::string& text) {
  if (text.empty()) return {};
  try {
    const Json json = Json::parse(text);
    LogState out;
    json.at("any_logged").get_to(out.any_logged);
    IntervalNumbers& i = out.since_logged;
    json.at("steps").get_to(i.steps);
    json.at("clipped").get_to(i.clipped);
    json.at("skipped").get_to(i.skipped);
    const Json& extremes = json.at("extremes");
    extremes.at(0).get_to(i.loss_min);
    extremes.at(1).get_to(i.loss_max);
    extremes.at(2).get_to(i.grad_norm_min);
    extremes.at(3).get_to(i.grad_norm_max);
    json.at("losses").get_to(out.watched.losses);
    json.at("norms").get_to(out.watched.norms);
    json.at("log_norms").get_to(out.watched.log_norms);
    json.at("events").get_to(out.events);
    json.at("dumps").get_to(out.dumps);
    return out;
  } catch (const Json::exception&) {
    throw ValueError("run_log", "this is not the state of a log: '" + text.substr(0, 80) + "'");
  }
}

}  // namespace xtape

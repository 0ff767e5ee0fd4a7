// Results as JSON: for the file that the bench writes, and from the child processes to their parent.
#include "results.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace xtape::faults {

namespace {

using nlohmann::json;

/// JSON has no NaN and no infinity.
json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "NaN" : x > 0 ? "Inf" : "-Inf";
}

double number_of(const json& x) {
  if (x.is_number()) return x.get<double>();
  return x == "NaN" ? std::nan("") : x == "Inf" ? INFINITY : -INFINITY;
}

template <class T>
json optional(const std::optional<T>& x) {
  if constexpr (std::is_same_v<T, double>) return x ? number(*x) : json();
  else return x ? json(*x) : json();
}

json json_of(const Outcome& o) {
  json moved = json::object();
  for (const auto& [name, change] : o.moved) moved[name] = number(change);
  return {{"refused", o.refused},
          {"first", number(o.first)},
          {"last", number(o.last)},
          {"best", number(o.best)},
          {"highest", number(o.highest)},
          {"highest_norm", number(o.highest_norm)},
          {"nonfinite", o.nonfinite},
          {"updates", o.updates},
          {"validation_best", optional(o.validation_best)},
          {"validation_last", optional(o.validation_last)},
          {"validation_best_step", o.validation_best_step},
          {"moved", moved}};
}

Outcome outcome_of(const json& j) {
  Outcome out{.refused = j.at("refused"),
              .first = number_of(j.at("first")),
              .last = number_of(j.at("last")),
              .best = number_of(j.at("best")),
              .highest = number_of(j.at("highest")),
              .highest_norm = number_of(j.at("highest_norm")),
              .nonfinite = j.at("nonfinite"),
              .updates = j.at("updates")};
  if (!j.at("validation_best").is_null()) out.validation_best = number_of(j.at("validation_best"));
  if (!j.at("validation_last").is_null()) out.validation_last = number_of(j.at("validation_last"));
  out.validation_best_step = j.at("validation_best_step");
  for (const auto& [name, change] : j.at("moved").items()) out.moved[name] = number_of(change);
  return out;
}

json json_of(const Said& s) {
  return {{"refused", s.refused},
          {"detected", s.detected},
          {"id", s.id},
          {"layer", s.layer},
          {"finding", s.finding},
          {"answer", s.answer},
          {"evidence", s.evidence},
          {"remedy", s.remedy},
          {"step", optional(s.step)},
          {"advice", s.advice},
          {"consequences", s.consequences}};
}

Said said_of(const json& j) {
  Said out{.refused = j.at("refused"),
           .detected = j.at("detected"),
           .id = j.at("id"),
           .layer = j.at("layer"),
           .finding = j.at("finding"),
           .answer = j.at("answer"),
           .evidence = j.at("evidence"),
           .remedy = j.at("remedy"),
           .consequences = j.at("consequences"),
           .advice = j.at("advice")};
  if (!j.at("step").is_null()) out.step = j.at("step").get<index_t>();
  return out;
}

json json_of(const Expected& e) {
  return {{"causes", e.causes},       {"layers", e.layers},   {"no_layer", e.no_layer}, {"step", optional(e.step)},
          {"tolerance", e.tolerance}, {"harmful", e.harmful}, {"refusal", e.refusal}};
}

json json_of(const Score& s) {
  return {{"detected", s.detected}, {"cause", s.cause},     {"layer", s.layer},
          {"step", s.step},         {"harmful", s.harmful}, {"verdict", s.verdict}};
}

}  // namespace

json json_of(const Result& r) {
  return {{"outcome", json_of(r.outcome)}, {"said", json_of(r.said)}, {"red", r.red}, {"warnings", r.all},
          {"seconds", r.seconds},          {"died", r.died}};
}

Result result_of(const json& j) {
  return {
      outcome_of(j.at("outcome")), said_of(j.at("said")), j.at("red"), j.at("warnings"), j.at("seconds"), j.at("died")};
}

json json_of(const Table& table) {
  json faults = json::array(), healthy = json::array(), bases = json::object();
  for (std::size_t i = 0; i < table.faults.size(); ++i) {
    const Fault& fault = table.faults[i];
    json row = json_of(table.fault_results[i]);
    row["kind"] = fault.kind;
    row["model"] = fault.recipe.name;
    row["half"] = name_of(half_of(fault.key()));
    row["expected"] = json_of(table.expected_of(i));
    row["score"] = json_of(table.score_of(i));
    row["shows"] = table.shows(i);
    faults.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < table.healthy.size(); ++i) {
    json row = json_of(table.healthy_results[i]);
    row["name"] = table.healthy[i].name;
    row["model"] = table.healthy[i].recipe.name;
    row["half"] = name_of(half_of(table.healthy[i].name));
    row["good"] = table.healthy[i].good;
    row["learned"] = table.learned(i);
    healthy.push_back(std::move(row));
  }
  for (const auto& [name, result] : table.bases) bases[name] = json_of(result);
  return {{"faults", faults}, {"healthy", healthy}, {"bases", bases}};
}

}  // namespace xtape::faults

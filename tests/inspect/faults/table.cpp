// The table that the bench prints.
#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace xtape::faults {

namespace {

/// Whether a loss ends clearly above that of a healthy run: by a fifth, and by more than batches differ.
bool clearly_above(double faulty, double healthy) {
  return !std::isfinite(faulty) || faulty > 1.2 * std::abs(healthy) + 0.03;
}

bool ends_worse(const Outcome& faulty, const Outcome& healthy) {
  if (!faulty.refused.empty() || faulty.nonfinite > 0 || clearly_above(faulty.last, healthy.last)) return true;
  return faulty.validation_last && healthy.validation_last &&
         clearly_above(*faulty.validation_last, *healthy.validation_last);
}

/// All rates of one half.
struct Rates {
  Rate detected, cause, layer, step, placed, harmful, false_alarms, red;
};

Rates rates_of(const Table& table, Half half) {
  Rates out;
  for (std::size_t i = 0; i < table.faults.size(); ++i) {
    if (half_of(table.faults[i].key()) != half) continue;
    const Expected expected = table.expected_of(i);
    const Score score = table.score_of(i);
    out.detected.add(score.detected);
    out.cause.add(score.cause);
    out.placed.add(score.detected && score.layer);
    out.harmful.add(score.harmful);
    if (!expected.layers.empty() || expected.no_layer) out.layer.add(score.layer);
    if (expected.step) out.step.add(score.step);
  }
  for (std::size_t i = 0; i < table.healthy.size(); ++i) {
    if (half_of(table.healthy[i].name) != half) continue;
    const Result& result = table.healthy_results[i];
    out.false_alarms.add(result.said.detected || !result.all.empty());
    out.red.add(result.red);
  }
  return out;
}

void print_rate(const char* name, const Rate& rate) {
  const auto interval = rate.interval();
  std::printf("  %-28s %3d of %3d  %5.1f %%  (%.1f to %.1f)\n", name, static_cast<int>(rate.hits),
              static_cast<int>(rate.runs), 100 * rate.share(), 100 * interval[0], 100 * interval[1]);
}

void print_rates(const Table& table, Half half) {
  const Rates rates = rates_of(table, half);
  std::printf("\nhalf to %s, with 95 %% intervals\n", name_of(half));
  print_rate("detected", rates.detected);
  print_rate("detected, right layer", rates.placed);
  print_rate("right layer, if there is one", rates.layer);
  print_rate("right step, if there is one", rates.step);
  print_rate("right cause", rates.cause);
  print_rate("harmful advice", rates.harmful);
  print_rate("false alarms", rates.false_alarms);
  print_rate("red marks on healthy runs", rates.red);
}

void print_fault(const Table& table, std::size_t i) {
  const Fault& fault = table.faults[i];
  const Result& result = table.fault_results[i];
  const Said& said = result.said;
  const std::string said_id = !said.refused.empty() ? "(refused)" : said.detected ? said.id : "-";
  const std::string since = said.step ? std::to_string(*said.step) : "";
  std::string verdict = table.score_of(i).verdict;
  if (!table.shows(i)) verdict += "; NOT REAL";
  if (!result.died.empty()) verdict += "; DIED: " + result.died;
  std::printf("%-7s %-22s %-12s %-21s %6s  %-24s %-12s loss %.4g -> %.4g (healthy %.4g)\n",
              name_of(half_of(fault.key())), fault.kind.c_str(), fault.recipe.name.c_str(), said_id.c_str(),
              since.c_str(), said.layer.c_str(), verdict.c_str(), result.outcome.first, result.outcome.last,
              table.bases.at(fault.recipe.name).outcome.last);
}

void print_healthy(const Table& table, std::size_t i) {
  const Healthy& run = table.healthy[i];
  const Result& result = table.healthy_results[i];
  std::string note = result.all.empty() && !result.said.detected ? "quiet" : result.red ? "RED" : "false alarm";
  if (!table.learned(i)) note += "; DID NOT LEARN";
  if (!result.died.empty()) note += "; DIED: " + result.died;
  std::printf("%-7s %-35s loss %.4g -> %.4g (good %.4g), validation %.4g  %s  %s\n", name_of(half_of(run.name)),
              run.name.c_str(), result.outcome.first, result.outcome.last, run.good,
              result.outcome.validation_last.value_or(std::nan("")), note.c_str(), result.all.c_str());
}

}  // namespace

Expected Table::expected_of(std::size_t fault) const {
  Expected out = faults[fault].expected;
  if (faults[fault].best_is_the_step) out.step = fault_results[fault].outcome.validation_best_step;
  return out;
}

Score Table::score_of(std::size_t fault) const { return score(expected_of(fault), fault_results[fault].said); }

bool Table::shows(std::size_t fault) const {
  const Outcome &faulty = fault_results[fault].outcome, &of_base = bases.at(faults[fault].recipe.name).outcome;
  if (!fault_results[fault].died.empty()) return false;
  return faults[fault].shows ? faults[fault].shows(faulty, of_base) : ends_worse(faulty, of_base);
}

bool Table::learned(std::size_t i) const {
  const Result& result = healthy_results[i];
  const Outcome& o = result.outcome;
  if (!result.died.empty() || !o.refused.empty() || o.nonfinite > 0 || !(o.last <= healthy[i].good)) return false;
  return !o.validation_last || *o.validation_last <= healthy[i].good;
}

void print(const Table& table) {
  for (std::size_t i = 0; i < table.faults.size(); ++i) print_fault(table, i);
  for (std::size_t i = 0; i < table.healthy.size(); ++i) print_healthy(table, i);
  for (const Half half : {Half::develop, Half::report}) print_rates(table, half);
  double seconds = 0;
  for (const auto* results : {&table.fault_results, &table.healthy_results})
    for (const Result& result : *results) seconds += result.seconds;
  std::printf("\n%d faulty runs, %d healthy runs, %.0f s of training\n", static_cast<int>(table.faults.size()),
              static_cast<int>(table.healthy.size()), seconds);
}

}  // namespace xtape::faults

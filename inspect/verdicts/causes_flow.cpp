// Causes in the flow of numbers through the model: what is not finite, dead and saturated units, gradients that vanish
// or explode by depth and time, attention that collapses.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace xtape {

namespace {

/// A part of the run, judged apart: a median over the run hides what only its start shows.
struct Part {
  const char* name;
  double from, to;
};
constexpr std::array<Part, 3> kParts = {
    {{"at the start", 0, 0.1}, {"in the middle", 0.1, 0.6}, {"at the end", 0.6, 1}}};

index_t first_step(const RunFacts& facts, const Part& part) {
  return facts.run.steps[static_cast<std::size_t>(part.from * static_cast<double>(facts.run.steps.size()))].step;
}

/// The layer, in order of execution, whose output is the first that is not finite; "" if none is.
std::string first_broken_layer(const StepRecord& s) {
  for (const LayerStats& layer : s.layers)
    if (!std::isfinite(layer.mean) || !std::isfinite(layer.stddev)) return layer.name;
  return "";
}

bool is_loss(const std::string& op) { return op.ends_with("loss") || op.starts_with("cross_entropy"); }

/// The units with the largest share, by the median over a part of the run.
struct Worst {
  std::string name;
  double share = 0;
  index_t rows = 0;
};

Worst worst_units(const RunFacts& facts, const Part& part,
                  const std::function<std::optional<double>(const UnitStats&)>& share) {
  Worst out;
  for (const std::string& name : names_in(facts.run, &StepRecord::units)) {
    index_t rows = 0;
    const auto number = [&](const StepRecord& s) -> std::optional<double> {
      const UnitStats* units = named(s.units, name);
      if (!units) return std::nullopt;
      rows = std::max(rows, units->rows);
      return share(*units);
    };
    const auto middle = facts.median_of(number, part.from, part.to);
    if (middle && *middle > out.share) out = {name, *middle, rows};
  }
  return out;
}

/// Whether a recurrent layer has gates, which keep gradients already.
bool is_gated(const RunFacts& facts, const std::string& layer) {
  for (const std::string& name : names_in(facts.run, &StepRecord::units))
    if (name.starts_with(layer + ".") && is_gate(name)) return true;
  return false;
}

/// The limit after so many steps back; the constant is for kLag of them.
double limit_at(double limit, index_t lag) {
  return std::pow(limit, static_cast<double>(std::min(lag, limits::kLag)) / static_cast<double>(limits::kLag));
}

Verdict found_anomaly(const EventRecord& e) {
  const bool of_loss = e.layer.empty() && is_loss(e.op);
  return {of_loss ? "loss_nonfinite" : "layer_nonfinite",
          Finding::bad,
          "The first number that is not finite comes from " + e.op + (e.layer.empty() ? "" : " in " + e.layer) +
              ", at step " + std::to_string(e.step) + ".",
          e.text,
          "Look at the arrays beside " + e.file + ".",
          e.step,
          e.layer};
}

}  // namespace

void find_nonfinite(const RunFacts& facts, Causes& out) {
  const auto& events = facts.run.events;
  const auto event_of = [&](const char* kind) {
    return std::find_if(events.begin(), events.end(), [kind](const EventRecord& e) { return e.kind == kind; });
  };
  if (const auto anomaly = event_of("anomaly"); anomaly != events.end()) return out.push_back(found_anomaly(*anomaly));
  if (facts.first_nonfinite < 0) return;
  const auto record = std::find_if(facts.run.steps.begin(), facts.run.steps.end(), [](const StepRecord& s) {
    return !std::isfinite(s.loss) || !std::isfinite(s.grad_norm);
  });
  // What a later line shows has the same place if each step since then is broken.
  const bool measured = record != facts.run.steps.end() && !record->layers.empty();
  const std::string layer = measured ? first_broken_layer(*record) : "";
  const auto event = event_of("nonfinite");
  std::string evidence = event != events.end()
                             ? event->text
                             : "loss " + format_3g(record->loss) + ", gradient norm " + format_3g(record->grad_norm);
  if (measured && layer.empty()) evidence += "; the outputs of all layers are finite, so it arises after the last one";
  if (!measured) evidence += "; no such step was measured, so the log cannot tell where";
  out.push_back({layer.empty() ? "loss_nonfinite" : "layer_nonfinite",
                 facts.outcome == Outcome::broken ? Finding::bad : Finding::warning,
                 "The first number that is not finite comes at step " + std::to_string(facts.first_nonfinite) +
                     (layer.empty() ? "." : ", in " + layer + "."),
                 evidence, "Run again with --detect-anomaly, which names the op.", facts.first_nonfinite, layer});
}

void find_dead_units(const RunFacts& facts, Causes& out) {
  const Worst dead = worst_units(facts, {"", 0.5, 1}, [](const UnitStats& u) {
    return u.rows >= limits::kDeadRows ? u.dead_lately : std::nullopt;
  });
  const double limit = facts.learns() ? limits::kMostlyDead : limits::kDeadShare;
  if (dead.share <= limit) return;
  index_t since = 0;
  for (const StepRecord& s : facts.run.steps)
    if (const UnitStats* u = named(s.units, dead.name); u && u->dead_lately.value_or(0) <= limit) since = s.step;
  out.push_back({"dead_units", facts.severity(),
                 format_3g(100 * dead.share) + " % of the units of " + dead.name + " are dead.",
                 "0 in each of the last measured batches, " + std::to_string(dead.rows) + " rows (limit " +
                     format_3g(100 * limit) + " %)",
                 "Lower the rate, use a leaky relu, or start biases above 0.", since, layer_of(dead.name)});
}

/// At the first step, as the initial weights make it; and at the end of a run that does not learn. Of one that does,
/// units near their ends may be what was learned.
void find_saturated_units(const RunFacts& facts, Causes& out) {
  if (facts.run.steps.empty()) return;
  const auto flat = [](const UnitStats& u) -> std::optional<double> {
    if (!u.low || !u.high || is_gate(u.name)) return std::nullopt;
    return *u.low + *u.high;
  };
  const double line = 1 / static_cast<double>(facts.run.steps.size());
  const Part start = {"at the start", 0, line / 2};
  for (const Part& part : {start, kParts[2]}) {
    const Worst worst = worst_units(facts, part, flat);
    if (worst.share <= limits::kSaturatedShare || (part.from > 0 && facts.learns())) continue;
    out.push_back({"saturated_units", facts.severity(),
                   format_3g(100 * worst.share) + " % of " + worst.name + " is saturated " + part.name + ".",
                   "within 0.05 of the ends of its range (limit " + format_3g(100 * limits::kSaturatedShare) + " %)",
                   "Start with smaller weights, or lower the rate.", first_step(facts, part), layer_of(worst.name)});
    return;
  }
}

void find_depth(const RunFacts& facts, Causes& out) {
  for (const Part& part : kParts) {
    Depth names;
    const auto number = [&](const StepRecord& s) -> std::optional<double> {
      const Depth depth = depth_at(facts.run, s);
      if (depth.share) names = depth;
      return depth.share;
    };
    const auto share = facts.median_of(number, part.from, part.to);
    const bool vanishes = share && *share < limits::kVanishingDepth && !facts.learns();
    const bool explodes = share && *share > limits::kExplodingDepth;
    if (!vanishes && !explodes) continue;
    const std::string numbers = names.first + " receives " + format_3g(*share) + " times the gradient of " +
                                names.last + " " + part.name + " (limit " +
                                format_3g(vanishes ? limits::kVanishingDepth : limits::kExplodingDepth) + ")";
    if (vanishes)
      out.push_back({"vanishing_depth", Finding::bad, "Vanishing: little gradient reaches the input side.", numbers,
                     "Add residual connections or norms, or start with larger weights.", first_step(facts, part),
                     names.first});
    else
      out.push_back({"exploding_depth", facts.severity(), "Exploding: the gradient grows towards the input.", numbers,
                     "Add norms, start with smaller weights, or clip.", first_step(facts, part), names.first});
    return;
  }
}

void find_time(const RunFacts& facts, Causes& out) {
  for (const std::string& layer : names_in(facts.run, &StepRecord::times)) {
    double most = 0, left = 0;
    index_t lag = 0, since = 0;
    for (const StepRecord& s : facts.run.steps) {
      const TimeStats* times = named(s.times, layer);
      const std::vector<double> norms = times ? times->lag_norms() : std::vector<double>();
      const index_t steps = std::ssize(norms);
      if (steps <= limits::kFewestLags || !(norms[0] > 0) || !std::isfinite(norms[0])) continue;
      const double greatest = *std::max_element(norms.begin(), norms.end()) / norms[0];
      if (greatest > most) {
        most = greatest;
        since = s.step;
      }
      lag = std::min(limits::kLag, steps - 1);
      left = std::max(left, norms[lag] / norms[0]);
    }
    if (lag == 0) continue;
    if (const double limit = limit_at(limits::kExplodingLag, lag); most > limit)
      return out.push_back(
          {"exploding_time", facts.severity(), "Exploding: the gradient of " + layer + " grows back in time.",
           "up to " + format_3g(most) + " times that of lag 0, at step " + std::to_string(since) + " (limit " +
               format_3g(limits::kExplodingLag) + ")",
           "Clip the norm, start with smaller recurrent weights, or shorten the window.", since, layer});
    if (left < limit_at(limits::kVanishingLag, lag) && !facts.learns())  // what is not needed may fade
      return out.push_back(
          {"vanishing_time", Finding::bad, "Vanishing: the gradient of " + layer + " fades back in time.",
           "in no measured step more than " + format_3g(100 * left) + " % of it is left " + std::to_string(lag) +
               " steps back (limit " + format_3g(100 * limit_at(limits::kVanishingLag, lag)) + " %)",
           is_gated(facts, layer) ? "Start with a forget bias of 1 or more, or with open update gates."
                                  : "Use an LSTM or a GRU, or an orthogonal start.",
           0, layer});
  }
}

/// A loop over cells has norms by time but none by lag: what its first step gets beside its last tells of vanishing if
/// the loss depends on the last steps only.
void find_cells(const RunFacts& facts, Causes& out) {
  if (facts.learns()) return;
  for (const std::string& layer : names_in(facts.run, &StepRecord::times)) {
    double most = 0;
    index_t count = 0;
    for (const StepRecord& s : facts.run.steps) {
      const TimeStats* times = named(s.times, layer);
      if (!times || !times->by_lag.empty() || times->by_time.empty()) continue;
      const std::vector<double>& norms = times->by_time.front().norms;
      if (std::ssize(norms) <= limits::kFewestLags || !(norms.back() > 0)) continue;
      most = std::max(most, norms.front() / norms.back());
      count = std::ssize(norms);
    }
    if (count == 0 || most >= limit_at(limits::kVanishingLag, count - 1)) continue;
    out.push_back({"cells_in_loop", Finding::bad,
                   "Vanishing: hardly any gradient reaches the first time steps of " + layer + ".",
                   "step 0 gets at most " + format_3g(most) + " times the gradient of step " +
                       std::to_string(count - 1) + " (limit " + format_3g(limit_at(limits::kVanishingLag, count - 1)) +
                       "); a loop over cells, so there is no gradient by lag",
                   "Use the layer that runs whole sequences, with gates or an orthogonal start.", 0, layer});
    return;
  }
}

void find_collapsed_attention(const RunFacts& facts, Causes& out) {
  if (facts.learns()) return;  // trained heads may be sharp
  for (const std::string& name : names_in(facts.run, &StepRecord::attention)) {
    const auto number = [&](const StepRecord& s) -> std::optional<double> {
      const AttentionStats* a = named(s.attention, name);
      return a && !a->entropy_share.empty() ? finite_median(a->entropy_share) : std::nullopt;
    };
    const auto share = facts.median_of(number, 0.5, 1);
    if (!share || *share > limits::kCollapsed) continue;
    out.push_back({"attention_collapsed",
                   Finding::bad,
                   "The attention of " + name + " looks at one key only.",
                   "its entropy is " + format_3g(100 * *share) +
                       " % of the largest possible in the second half (limit " + format_3g(100 * limits::kCollapsed) +
                       " %), and the loss hardly falls",
                   "Lower the rate, or normalize queries and keys.",
                   {},
                   name});
    return;
  }
}

}  // namespace xtape

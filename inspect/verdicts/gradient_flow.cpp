// Verdicts on the flow of gradients through depth and time.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

Verdict unmeasured(const char* id, const std::string& why) { return {id, Finding::unmeasured, "Not known.", why}; }

/// "halves every 2.9 steps" or "doubles every 3 steps".
std::string pace(double rate) {
  if (rate <= 0) return "is gone after one step";
  if (std::abs(std::log(rate)) < 1e-3) return "keeps its size";
  return (rate < 1 ? "halves every " : "doubles every ") + format_3g(std::log(2.0) / std::abs(std::log(rate))) +
         " steps";
}

/// A recurrent layer and its gradient by lag.
struct Named {
  std::string layer;
  LagCurve curve;
  double at_lag, greatest;
  index_t lag;
};

std::vector<Named> curves(const RunData& run) {
  std::vector<Named> out;
  for (const std::string& layer : names_in(run, &StepRecord::times)) {
    const std::optional<LagCurve> curve = lag_curve(run, layer);
    if (!curve) continue;
    const index_t lag = std::min(limits::kLag, std::ssize(curve->share) - 1);
    if (lag < limits::kShortestLag) continue;
    out.push_back({layer, *curve, curve->share[lag], *std::max_element(curve->share.begin(), curve->share.end()), lag});
  }
  return out;
}

std::string evidence(const Named& n) {
  return n.layer + ": " + format_3g(100 * n.at_lag) + " % of lag 0 at lag " + std::to_string(n.lag) + ", factor " +
         format_3g(n.curve.rate) + " a step over " + std::to_string(n.curve.share.size() - 1) + " steps";
}

}  // namespace

std::vector<Verdict> judge_time(const RunData& run) {
  const std::vector<Named> all = curves(run);
  if (all.empty()) {
    const std::string why =
        "no recurrent layer over at least " + std::to_string(limits::kShortestLag + 1) + " steps was measured";
    return {unmeasured("vanishing_time", why), unmeasured("exploding_time", why)};
  }
  const auto faded = [](const Named& n) {  // the limit is for kLag steps; a steep start alone does not count
    const double limit =
        std::pow(limits::kVanishingLag, static_cast<double>(n.lag) / static_cast<double>(limits::kLag));
    return n.at_lag < limit && std::pow(n.curve.rate, static_cast<double>(n.lag)) < limit;
  };
  const Named& least = *std::min_element(all.begin(), all.end(),
                                         [](const Named& a, const Named& b) { return a.curve.rate < b.curve.rate; });
  const Named& most =
      *std::max_element(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.greatest < b.greatest; });
  Verdict vanishing{"vanishing_time", Finding::fine,
                    "The gradient reaches back in time; it " + pace(least.curve.rate) + ".", evidence(least)};
  if (const auto n = std::find_if(all.begin(), all.end(), faded); n != all.end()) {
    vanishing = {"vanishing_time",
                 Finding::bad,
                 "Vanishing: the gradient " + pace(n->curve.rate) + " back in time.",
                 evidence(*n) + " (limit " + format_3g(100 * limits::kVanishingLag) + " % at lag " +
                     std::to_string(limits::kLag) + ")",
                 "Try an LSTM or GRU, a forget bias of 1, or an orthogonal start.",
                 {},
                 n->layer};
  }
  Verdict exploding{"exploding_time", Finding::fine, "The gradient does not grow back in time.",
                    most.layer + ": at most " + format_3g(most.greatest) + " times lag 0"};
  if (most.greatest > limits::kExplodingLag)
    exploding = {"exploding_time",
                 Finding::bad,
                 "Exploding: the gradient " + pace(most.curve.rate) + " back in time.",
                 evidence(most) + "; at most " + format_3g(most.greatest) + " times lag 0 (limit " +
                     format_3g(limits::kExplodingLag) + ")",
                 "Clip the norm, start with smaller recurrent weights, or shorten the window.",
                 {},
                 most.layer};
  return {vanishing, exploding};
}

std::vector<Verdict> judge_depth(const RunData& run) {
  const Depth depth = depth_of(run);
  std::vector<Verdict> out;
  if (!depth.share) {
    out = {unmeasured("vanishing_depth", "no two layers' output gradients were measured"),
           unmeasured("exploding_depth", "no two layers' output gradients were measured")};
  } else {
    const std::string numbers =
        depth.first + " receives " + format_3g(*depth.share) + " times the gradient of " + depth.last;
    const bool vanishes = *depth.share<limits::kVanishingDepth, explodes = *depth.share> limits::kExplodingDepth;
    out.push_back(vanishes
                      ? Verdict{"vanishing_depth",
                                Finding::bad,
                                "Vanishing: little gradient reaches the input side.",
                                numbers + " (limit " + format_3g(limits::kVanishingDepth) + ")",
                                "Add residual connections or norms, or start with larger weights.",
                                {},
                                depth.first}
                      : Verdict{"vanishing_depth", Finding::fine, "The gradient reaches the input side.", numbers});
    out.push_back(
        explodes ? Verdict{"exploding_depth",
                           Finding::bad,
                           "Exploding: the gradient grows towards the input.",
                           numbers + " (limit " + format_3g(limits::kExplodingDepth) + ")",
                           "Add norms, start with smaller weights, or clip.",
                           {},
                           depth.first}
                 : Verdict{"exploding_depth", Finding::fine, "The gradient does not grow towards the input.", numbers});
  }
  const std::vector<double> norms = series(run, [](const StepRecord& s) { return s.grad_norm; });
  if (norms.size() < limits::kFewSteps) {
    out.push_back(unmeasured("growth", "fewer than " + std::to_string(limits::kFewSteps) + " steps are logged"));
    return out;
  }
  const std::optional<double> early = finite_median(first_tenth(norms)), late = finite_median(last_tenth(norms));
  if (!early || !late) {
    out.push_back(unmeasured("growth", "the norms at one end of the run are not finite"));
    return out;
  }
  const double first = *early, last = *late;
  const std::string numbers =
      "median gradient norm of the first tenth " + format_3g(first) + ", of the last tenth " + format_3g(last);
  if (first == 0 && last > 0) out.push_back(unmeasured("growth", numbers));  // any norm is infinitely many times 0
  else if (last > limits::kExplodingGrowth * first)
    out.push_back({"growth", Finding::bad, "The gradient norm grew beyond all bounds.",
                   numbers + " (limit " + format_3g(limits::kExplodingGrowth) + " times)",
                   "Clip, or lower the learning rate."});
  else out.push_back({"growth", Finding::fine, "The gradient norm keeps its order of magnitude.", numbers});
  return out;
}

}  // namespace xtape

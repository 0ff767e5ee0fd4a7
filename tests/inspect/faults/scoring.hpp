// How the bench of planted faults scores what a diagnosis said: the halves, what counts as right, rates.
#pragma once

#include <xtape/core/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace xtape::faults {

/// Every cause that a fault of the bench may have: the ids that a diagnosis must use.
inline const std::set<std::string>& cause_ids() {
  static const std::set<std::string> ids = {"nonfinite_input",   "loss_nonfinite",      "layer_nonfinite",
                                            "rate_too_high",     "rate_too_low",        "rate_zero",
                                            "no_update",         "not_in_optimizer",    "no_gradient",
                                            "uneven_rate",       "evaluation_mode",     "validation_nonfinite",
                                            "steps_skipped",     "clip_too_tight",      "gradients_not_cleared",
                                            "decay_too_large",   "momentum_too_high",   "input_scale",
                                            "zero_weights",      "equal_units",         "weights_too_large",
                                            "weights_too_small", "vanishing_depth",     "exploding_depth",
                                            "vanishing_time",    "exploding_time",      "dead_units",
                                            "saturated_units",   "attention_saturated", "attention_collapsed",
                                            "overfitting",       "validation_mismatch", "impossible_loss",
                                            "constant_loss",     "stuck_at_chance",     "too_much_dropout",
                                            "cells_in_loop",     "untouched_rows",      "gradient_noise",
                                            "repeated_batch",    "late_divergence",     "spike"};
  return ids;
}

/// 64-bit FNV-1a.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// Rules are developed on one half of the runs and reported on the other.
enum class Half { develop, report };
constexpr const char* name_of(Half half) { return half == Half::develop ? "develop" : "report"; }

/// The half of a run by "kind/model", for a healthy run by its name. The lowest bit of the hash is only the parity of
/// the letters, so a higher one decides.
constexpr Half half_of(std::string_view key) { return fnv1a(key) >> 40 & 1 ? Half::report : Half::develop; }

/// What is right to say about a fault.
struct Expected {
  std::vector<std::string> causes = {};   ///< accepted ids
  std::vector<std::string> layers = {};   ///< accepted prefixes of the layer; empty: there is none to name
  bool no_layer = false;                  ///< naming any layer is wrong
  std::optional<index_t> step = {};       ///< from which the fault holds; a cause without a step holds from 0 on
  index_t tolerance = 0;                  ///< in steps
  std::vector<std::string> harmful = {};  ///< regular expressions of advice that makes things worse
  std::string refusal = {};               ///< regular expression of an exception's message that names the cause
};

/// What a diagnosis said, or the message with which the library refused the training.
struct Said {
  std::string refused = {};
  bool detected = false;
  std::string id = {}, layer = {}, finding = {}, answer = {}, evidence = {}, remedy = {};
  std::optional<index_t> step = {};
  std::vector<std::string> consequences = {};  ///< ids
  std::vector<std::string> advice = {};        ///< the remedies of all that was said
};

struct Score {
  bool detected = false, cause = false, layer = false, step = false, harmful = false;
  std::string verdict = {};  ///< "ok", "harmful", "missed", "wrong cause", "wrong layer", "wrong step"
};

/// Whether a layer's name equals the prefix or goes on after it with a dot, an underscore or a bracket.
inline bool in_layer(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return false;
  return name.size() == prefix.size() || std::string_view("._[").find(name[prefix.size()]) != std::string_view::npos;
}

/// The sentences and clauses of an advice that do not deny something.
inline std::vector<std::string> clauses(const std::string& advice) {
  static const std::regex denied(R"(\b(not|never|no|nor|neither|without|instead of|rather than)\b|n't\b)",
                                 std::regex::icase);
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < advice.size(); ++i) {
    const bool ends = std::string_view(".;:,").find(advice[i]) != std::string_view::npos &&
                      (i + 1 == advice.size() || advice[i + 1] == ' ');
    if (ends) out.emplace_back();
    else out.back() += advice[i];
  }
  std::erase_if(out, [](const std::string& text) { return std::regex_search(text, denied); });
  return out;
}

constexpr const char* kRaiseRate = R"(\b(raise|increase|higher|larger|bigger)\b.*\brate\b)";
constexpr const char* kLowerRate = R"(\b(lower|reduce|decrease|smaller)\b.*\brate\b(?! at the end))";

inline bool matches(const std::vector<std::string>& advice, const std::string& pattern) {
  const std::regex wanted(pattern, std::regex::icase);
  for (const std::string& text : advice)
    for (const std::string& clause : clauses(text))
      if (std::regex_search(clause, wanted)) return true;
  return false;
}

/// Advice is harmful if it is what the fault forbids, or if it asks for a higher and for a lower rate at once.
inline bool harmful(const Expected& expected, const Said& said) {
  if (matches(said.advice, kRaiseRate) && matches(said.advice, kLowerRate)) return true;
  return std::any_of(expected.harmful.begin(), expected.harmful.end(),
                     [&](const std::string& pattern) { return matches(said.advice, pattern); });
}

inline Score score(const Expected& expected, const Said& said) {
  if (!said.refused.empty() && !expected.refusal.empty() &&
      std::regex_search(said.refused, std::regex(expected.refusal)))
    return {true, true, true, true, false, "ok"};
  Score out;
  out.detected = said.detected;
  out.harmful = harmful(expected, said);
  if (said.detected) {
    out.cause = std::find(expected.causes.begin(), expected.causes.end(), said.id) != expected.causes.end();
    out.layer = expected.no_layer ? said.layer.empty() : expected.layers.empty();
    for (const std::string& prefix : expected.layers) out.layer = out.layer || in_layer(said.layer, prefix);
    out.step = !expected.step || std::abs(said.step.value_or(0) - *expected.step) <= expected.tolerance;
  }
  out.verdict = out.harmful     ? "harmful"
                : !out.detected ? "missed"
                : !out.cause    ? "wrong cause"
                : !out.layer    ? "wrong layer"
                : !out.step     ? "wrong step"
                                : "ok";
  return out;
}

/// A share with its 95 % interval after Wilson (1927); the interval of no runs is 0 to 1.
struct Rate {
  index_t hits = 0, runs = 0;

  void add(bool hit) {
    hits += hit;
    ++runs;
  }
  double share() const { return runs ? static_cast<double>(hits) / static_cast<double>(runs) : 0; }
  std::array<double, 2> interval() const {
    if (runs == 0) return {0, 1};
    constexpr double z = 1.959963984540054;
    const double n = static_cast<double>(runs), p = share();
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
  }
};

}  // namespace xtape::faults

// What the kinds of faults have in common: edits of weights, groups of parameters, steps.
#pragma once

#include "recipe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace xtape::faults {

constexpr real kNaN = std::numeric_limits<real>::quiet_NaN();

constexpr const char* kGatedCell = R"(\b(try|use|switch|replace)\b.*\b(lstm|gru|gated)\b)";
constexpr const char* kSmallerWeights = R"(\bsmaller\b.*\b(weights|start|output layer)\b)";
constexpr const char* kLargerModel = R"(\blarger model\b)";
constexpr const char* kResiduals = R"(\bresidual)";

/// The fault holds from this step on, up to the distance of the lines in the log.
inline void since(Fault& fault, index_t step) {
  fault.expected.step = step;
  fault.expected.tolerance = 2 * fault.recipe.interval;
}

/// A step at a share of the run, between two lines of the log if they are apart.
inline index_t step_at(const Recipe& recipe, double share) {
  const index_t step = static_cast<index_t>(share * static_cast<double>(recipe.steps));
  return step / recipe.interval * recipe.interval + recipe.interval / 2;
}

/// Such a step that is logged.
inline index_t logged_step_at(const Recipe& recipe, double share) {
  return static_cast<index_t>(share * static_cast<double>(recipe.steps)) / recipe.interval * recipe.interval;
}

/// Multiplies the matrices whose names begin so.
inline void scale_matrices(ParamStore& store, const std::string& prefix, double factor) {
  for (Parameter p : store.parameters()) {
    if (!p.name().starts_with(prefix) || p.shape().rank() < 2) continue;
    real* const values = p.edit();
    for (index_t i = 0; i < p.numel(); ++i) values[i] *= static_cast<real>(factor);
  }
}

/// Sets all elements of the parameters whose names begin and end so.
inline void fill(ParamStore& store, const std::string& prefix, const std::string& suffix, double value) {
  for (Parameter p : store.parameters())
    if (p.name().starts_with(prefix) && p.name().ends_with(suffix))
      std::fill_n(p.edit(), p.numel(), static_cast<real>(value));
}

/// Groups in which the parameters whose names begin so have another rate; without `rate_scale` they are in none.
inline std::vector<ParamGroup> groups_apart(ParamStore& store, const std::string& prefix,
                                            std::optional<double> rate_scale) {
  ParamGroup others{.name = "others", .parameters = {}}, apart{.name = "apart", .parameters = {}};
  apart.lr_scale = rate_scale.value_or(1);
  for (const Parameter& p : store.parameters()) (p.name().starts_with(prefix) ? apart : others).parameters.push_back(p);
  if (!rate_scale) return {others};
  return {others, apart};
}

inline bool always_shows(const Outcome&, const Outcome&) { return true; }

/// How far the parameters whose names begin so moved, as the largest share of their size.
inline double moved(const Outcome& outcome, const std::string& prefix) {
  double out = 0;
  for (const auto& [name, change] : outcome.moved)
    if (name.starts_with(prefix) && std::isfinite(change)) out = std::max(out, change);
  return out;
}

inline bool is_text(const Recipe& recipe) { return recipe.data.task == Task::text; }
inline bool is_recurrent(const Recipe& recipe) {
  const Architecture a = recipe.net.architecture;
  return a == Architecture::rnn || a == Architecture::gru || a == Architecture::lstm;
}

}  // namespace xtape::faults

// The diagnosis of a run: what is wrong first of all, and what follows from it.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <optional>
#include <vector>

namespace xtape {

struct Diagnosis {
  std::optional<Verdict> cause = {};       ///< the headline; nothing if nothing is wrong
  std::vector<Verdict> consequences = {};  ///< the other causes with evidence, in the order of the chain
};

/// Asks all causes (causes.hpp) in the order of the chain. Nothing is said without evidence.
Diagnosis diagnose(const RunData& run);

}  // namespace xtape

// The ranking of compared runs: which is best, what is next, and whether the difference means anything.
#pragma once

#include <xtape/inspect/report/comparison.hpp>
#include <xtape/inspect/report/text_format.hpp>

namespace xtape {

/// Why the losses of the runs must not be compared: "they have 10 and 65 classes", "the option data differs". Empty if
/// nothing speaks against it.
std::vector<std::string> obstacles_of(const Comparison& comparison);

/// Groups in order of their median last validation loss, or training loss if there is none, the best first. Groups
/// without a loss, or with a run that is not finished, are left out.
std::vector<const RunGroup*> by_loss(const Comparison& comparison);

/// Whether the spreads over the seeds of two groups overlap; a group of one seed is a point. Nothing if both have one
/// seed: then the spread is not known.
std::optional<bool> within_spread(const Spread& a, const Spread& b);

/// The best group and the next, or why the runs have no order.
Headline ranking_headline(const Comparison& comparison);

}  // namespace xtape

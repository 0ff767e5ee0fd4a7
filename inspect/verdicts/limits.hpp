// The limits of every verdict about a run, in one place: the run log, the inspector and the report read them here.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::limits {

// Spikes, judged step by step.
constexpr std::size_t kSpikeWindow = 100;  ///< steps whose median says what is ordinary
constexpr std::size_t kSpikeMinimum = 20;  ///< fewer say nothing
constexpr double kSpikeFactor = 4;         ///< a gradient norm above so many times the median
constexpr double kLossSpikeStddevs = 6;    ///< a loss so many standard deviations above the last kSpikeMinimum,
constexpr double kLossSpikeShare = 0.2;    ///< and so much of their median above it

// Gradients by depth: what the first block receives of what the last does.
constexpr double kVanishingDepth = 0.01;
constexpr double kExplodingDepth = 100;

// Gradients by time: of the last step's loss alone, some steps back.
constexpr index_t kLag = 20;            ///< steps back; the whole window if it is shorter
constexpr index_t kShortestLag = 8;     ///< below that nothing is said
constexpr double kVanishingLag = 1e-3;  ///< of lag 0
constexpr double kExplodingLag = 100;

// Sizes of the gradient over the run.
constexpr double kExplodingGrowth = 1000;  ///< last tenth / first tenth of the total norm

// Units.
constexpr double kDead = 0.1;           ///< share of relu units that are 0 for a whole batch
constexpr double kSaturated = 0.3;      ///< share of values in the flat ends of tanh and sigmoid,
constexpr double kSaturatedGate = 0.6;  ///< and of gates, which learn to be open or shut

// Steps.
constexpr double kClipped = 0.5;                                   ///< share of steps, after the warm-up
constexpr index_t kClippedMinimum = 20;                            ///< steps after the warm-up; fewer say nothing
constexpr double kUpdateRatioLow = 1e-4, kUpdateRatioHigh = 3e-2;  ///< while the rate is above half its peak
constexpr double kLearningShare = 1e-3;  ///< a layer whose update ratio is that far below the median's learns nothing

// The loss.
constexpr double kUntrainedAbove = 1.2;  ///< times ln V: worse than knowing nothing
constexpr double kUntrainedBelow = 0.8;  ///< times ln V: too good to be untrained
constexpr double kDivergedLoss = 1.5;    ///< last tenth's median / the best tenth's median so far, and above the first
constexpr double kPlateau = 0.005;       ///< the second half lowers the loss by less than this share of its own size
constexpr std::size_t kFewSteps = 5;     ///< logged steps; fewer say nothing about the course of a run

}  // namespace xtape::limits

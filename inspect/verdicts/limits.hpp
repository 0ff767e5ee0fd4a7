// The limits of all verdicts. The run log, `xtape inspect` and the report use these values.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::limits {

// Spikes, checked step by step.
constexpr std::size_t kSpikeWindow = 100;  ///< steps whose median is the reference
constexpr std::size_t kSpikeMinimum = 20;  ///< fewer steps give no result
constexpr double kSpikeFactor = 4;         ///< a spike: gradient norm / median
constexpr double kLossSpikeStddevs =
    6;  ///< a spike: standard deviations above the mean of the last kSpikeMinimum losses,
constexpr double kLossSpikeShare = 0.2;  ///< and at least this share of their median above it

// Gradients by depth: |gradient| of the first layer's output / that of the last.
constexpr double kVanishingDepth = 0.01;
constexpr double kExplodingDepth = 100;

// Gradients by time: the gradient of the last step's loss alone, some steps back.
constexpr index_t kLag = 20;            ///< steps back; the window's length if it is shorter
constexpr index_t kShortestLag = 8;     ///< a shorter window gives no result
constexpr double kVanishingLag = 1e-3;  ///< relative to lag 0
constexpr double kExplodingLag = 100;

// Growth of the gradient over the run.
constexpr double kExplodingGrowth = 1000;  ///< median total norm of the last tenth / first tenth

// Units.
constexpr double kDead = 0.1;           ///< share of relu units that are 0 for a whole batch
constexpr double kSaturated = 0.3;      ///< share of values near the ends of tanh and sigmoid,
constexpr double kSaturatedGate = 0.6;  ///< and of gates, which learn to be open or closed

// Steps.
constexpr double kClipped = 0.5;                                   ///< share of steps after the warm-up
constexpr index_t kClippedMinimum = 20;                            ///< steps after the warm-up; fewer give no result
constexpr double kUpdateRatioLow = 1e-4, kUpdateRatioHigh = 3e-2;  ///< while the learning rate is above half its peak
constexpr double kLearningShare = 1e-3;  ///< a layer below this share of the median update ratio does not learn

// The loss.
constexpr double kUntrainedAbove = 1.2;  ///< times ln V: worse than a uniform guess
constexpr double kUntrainedBelow = 0.8;  ///< times ln V: too low for an untrained model
// Where losses change their sign, or are 0, no loss is a size: shares are of the largest |loss| and the median |loss|.
constexpr double kDivergedLoss = 1.5;  ///< median of the last tenth / of the best tenth
constexpr double kPlateau = 0.005;     ///< the run, or its second half, lowers the loss by no more than this share
constexpr std::size_t kFewSteps = 5;   ///< logged steps; fewer give no result

}  // namespace xtape::limits

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

// Causes.

// How a run ends. A loss of classes is stuck if it stays within 3 % of ln(classes): a model that knows only how often
// each class comes falls below that on most data.
constexpr double kAtChance = 0.97;
constexpr double kWeak = 0.75;  ///< the same: a loss above it has learned little, whatever its units and gates show
constexpr double kWorse = 1.1;  ///< times its start or ln(classes): noise of a batch of 32 moves a loss by less

constexpr double kMost = 0.5;            ///< share of steps that makes a thing the rule
constexpr double kRateZeroShare = 0.05;  ///< of the lines at the end; a schedule's last line alone may have rate 0
constexpr double kManySkipped = 0.1;     ///< of the steps: the optimizer then sees another data set
// The gradient of one batch and of the next have a cosine of signal / (signal + noise). Sums of k gradients share all
// but the last: 1 - 1 / k or more.
constexpr double kParallel = 0.9;
constexpr double kSummedGrowth = 5;  ///< times the first norm

// Inputs. Initial weights are scaled for inputs of root mean square 1; 100 times that saturates every unit, and a mean
// of 10 deviations makes the loss' curvature in one direction 100 times that in the others.
constexpr double kLargeInput = 100, kSmallInput = 1e-3, kInputOffset = 10;
constexpr index_t kRepeats = 3;      ///< equal batches in a row
constexpr index_t kTouchSteps = 50;  ///< fewer steps say nothing about rows that are never used
constexpr index_t kFewRows = 16;     ///< of a smaller table chance may leave out half
constexpr double kUntouched = 0.5;   ///< most of the table is then a waste

// Initial weights.
constexpr double kEqualRows = 0.9;   ///< random rows are never equal; gates make a few blocks of equal ones
constexpr double kLargeOutput = 30;  ///< standard weights keep outputs near 1; exp(30) is 1e13
constexpr double kVanishingStart = 0.01, kShrunk = 0.01;  ///< a hundredth of the gradient, and of the signal
constexpr double kSharpStart = 0.3;  ///< of the largest entropy: logits of deviation 1 leave 0.9 of it

// Rates. An Adam moves each weight by the rate, so a weight of deviation 1 / sqrt(inputs) by rate * sqrt(inputs) of its
// size: 1e-3 to 1e-2 is usual. Twenty steps of a twentieth make a new model.
constexpr double kBlownLoss = 5;  ///< times the first: no noise of a batch
constexpr double kLargeStep = 0.05, kHugeStep = 0.3, kSlowPace = 1e-4;
constexpr double kFallenRate = 0.01;     ///< median rate / largest: usual schedules keep a third
constexpr double kSlowFall = 0.1;        ///< of the loss, over the run
constexpr double kDecayShare = 0.5;      ///< of the update: decay then moves weights more than the gradient does
constexpr double kShrunkWeights = 0.5;   ///< norm at the end / at the start
constexpr double kTightClip = 0.05;      ///< clip factor: clipping then divides the rate by 20
constexpr double kHeavyMomentum = 0.99;  ///< a mean over 100 steps; 0.9 is usual
constexpr double kUneven = 30;           ///< times the usual rate: scales by layer stay within 10

constexpr double kDeadShare = 0.5;       ///< of a layer: less than half of its width is left
constexpr double kMostlyDead = 0.65;     ///< where the run learns all the same
constexpr double kSaturatedShare = 0.6;  ///< a layer then passes on less than half of the gradient: 0.4 + 0.6 x 0.1
constexpr index_t kDeadRows = 64;        ///< a unit that fires for one row in 20 is silent for 64 in 4 % of cases
constexpr index_t kFewestLags = 7;       ///< a shorter window shows no trend
constexpr double kCollapsed = 0.05;      ///< of the largest entropy: of 64 keys 1.2 are left

// The course.
constexpr std::size_t kCourseSteps = 10;  ///< fewer logged steps show none
constexpr double kFallen = 0.2;           ///< of its start a loss must have fallen to be called good
constexpr double kRegained = 0.3;         ///< of the fall
constexpr double kSpikeSize = 20;         ///< times the median: norms of healthy runs are within a factor of 10
constexpr double kSpikeOfStart = 3;  ///< times the norm at the start: a converged run has smaller ones of no weight
constexpr double kSpikeLoss = 1.5;   ///< times the loss of knowing nothing: confidently wrong

// Validation.
constexpr double kRise = 1.1, kGap = 1.5;  ///< validation at the end / its best, and / training
constexpr double kLearned = 0.25;          ///< of ln(classes), or of the loss at the start: training that has learned,
constexpr double kFarGap = 3;              ///< and so many times as much in validation at that step
constexpr double kNeverGood = 0.9;         ///< of ln(classes): validation that never gets better than that
constexpr double kLargeRise = 0.03;        ///< of ln(classes), or of the loss at the start
constexpr double kLossFloor = 0.01;        ///< the same: smaller losses are not told apart
constexpr double kMuchDropout = 0.8;       ///< one unit in five is left; 0.1 to 0.5 is usual
constexpr double kNoiseSteps = 50;         ///< fewer have no mean
constexpr double kNoisyLoss = 0.5;         ///< of ln(classes): a validation below it has learned in spite of the noise
constexpr double kNoise = 0.2;             ///< cosine: the signal is then less than a quarter of the noise
constexpr double kFewTargets = 4;          ///< of a batch: the noise of its mean gradient is half of one example's

}  // namespace xtape::limits

// The records of a run: what metrics.jsonl, grad_norms.csv and events.jsonl hold.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/inspect/run/name.hpp>
#include <xtape/inspect/run/packed_optional.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// The element of this name, added to the list if it is new. Finds the last elements at once.
template <class Named>
Named& find_or_add(std::vector<Named>& list, std::string_view name) {
  for (auto x = list.rbegin(); x != list.rend(); ++x)
    if (x->name == name) return *x;
  list.emplace_back().name = name;
  return list.back();
}

/// What the training loop passes to RunLog::step.
struct StepMetrics {
  double loss;                                 ///< of the training batch, before the update
  std::optional<double> validation_loss = {};  ///< on the steps that measure it
  double lr = 0;
  std::optional<double> grad_norm =
      {};                             ///< joint 2-norm of all gradients before clipping, as clip_grad_norm returned it
  index_t tokens = 0;                 ///< of this step's batch
  std::optional<index_t> batch = {};  ///< index of the batch, to find it again; default: the step
  std::vector<std::pair<std::string, double>> extra = {};  ///< metrics of one's own: {{"accuracy", a}}
};

/// Histogram of magnitudes: counts()[i] elements with 2^(low+i) <= |x| < 2^(low+i+1). Without counts it takes the
/// memory of a pointer.
class Log2Histogram {
 public:
  Log2Histogram() = default;
  Log2Histogram(int low, std::vector<index_t> counts);
  Log2Histogram(const Log2Histogram& other);
  Log2Histogram(Log2Histogram&& other) noexcept = default;
  Log2Histogram& operator=(Log2Histogram other) noexcept {
    bins_ = std::move(other.bins_);
    return *this;
  }

  int low() const { return bins_ ? bins_->low : 0; }
  const std::vector<index_t>& counts() const;

 private:
  struct Bins {
    int low;
    std::vector<index_t> counts;
  };
  std::unique_ptr<Bins> bins_;  // null: no counts
};

/// Numbers of one parameter. Those of the gradient are from before clipping.
struct ParameterStats {
  Name name;
  double grad_norm = 0;
  // The next four are missing on steps that are logged only because of a validation loss: the probe was not attached.
  PackedOptional<double> grad_max = {};         ///< largest finite magnitude
  PackedOptional<index_t> grad_nonfinite = {};  ///< elements that are NaN or infinite
  PackedOptional<double> grad_zero_share = {};  ///< share of elements that are 0
  Log2Histogram grad_histogram = {};
  double weight_norm = 0;                      ///< after the update
  double update_norm = 0;                      ///< 2-norm of the update
  double update_ratio = 0;                     ///< update_norm / weight_norm; 0 if the update is 0
  PackedOptional<double> decay_norm = {};      ///< rate x weight decay x weight_norm, where there is decay
  PackedOptional<double> lr_scale = {};        ///< of the learning rate, where it is not 1
  PackedOptional<double> equal_rows = {};      ///< share of rows equal to the row before, where there are such
  PackedOptional<double> untouched_rows = {};  ///< share of rows that got no gradient in any step, where there are such
  bool unoptimized = false;                    ///< in no group of the optimizer
};

/// The output of one layer, over all its runs in the step.
struct LayerStats {
  Name name;
  double mean = 0, stddev = 0;
  PackedOptional<double> output_grad_norm = {};  ///< 2-norm of dL/d output; nothing if no gradient reached it
  PackedOptional<double> largest = {};           ///< largest magnitude; nothing if a value is not finite
};

/// The outputs of tanh, sigmoid or relu, or a gate or the states of a recurrent layer.
struct UnitStats {
  Name name;                                ///< layer and op or gate: "fc1.relu", "rnn_l0.forget"
  PackedOptional<double> low = {};          ///< share of values below 0.05, or below -0.95 if the range is -1..1
  PackedOptional<double> high = {};         ///< share of values above 0.95
  PackedOptional<double> dead = {};         ///< relu: share of units that are 0 in the whole batch
  PackedOptional<double> dead_lately = {};  ///< relu: share of units that are 0 in all of the last measured batches,
  index_t batches = 0, rows = 0;            ///< of which there are so many, with so many rows in all
};

/// What comes into the model from outside, in its first layer.
struct InputStats {
  std::optional<double> mean = {}, stddev = {}, low = {}, high = {};  ///< of finite values; not of ids
  index_t nonfinite = 0;
  index_t repeats = 0;  ///< measured batches in a row before this one that were equal to it
};

struct OptimizerInfo {
  std::string name;                                          ///< "adamw"
  std::vector<std::pair<std::string, double>> options = {};  ///< "beta1", "momentum", ...
};

/// Gradient norms of one state of a recurrent layer.
struct StreamNorms {
  std::string name;  ///< as the op gives it, StepGrad::stream: "hidden", for an lstm also "cell"
  std::vector<double> norms = {};
};

/// Gradient norms of a recurrent layer by time step.
struct TimeStats {
  Name name;
  std::vector<StreamNorms> by_time = {};  ///< |dL/d state_t|, t = 0, 1, ...
  std::vector<StreamNorms> by_lag = {};   ///< |dL_last/d state| 0, 1, ... steps before the last; L_last is the part of
                                          ///< the loss that depends on the last step's output alone

  /// All norms with their kinds in the files, in order: <stream>_grad_norm of each, then lag_<stream>_grad_norm.
  std::vector<std::pair<std::string, const std::vector<double>*>> kinds() const;
  /// The norms of such a kind, added if they are new; null for another kind.
  std::vector<double>* norms_of(std::string_view kind);
  /// The joint norm over all states by lag.
  std::vector<double> lag_norms() const;
};

struct AttentionStats {
  Name name;
  std::vector<double> entropy;        ///< by head: mean over queries, in nats
  std::vector<double> entropy_share;  ///< by head: mean of entropy / ln(visible keys)
  std::vector<double> largest_logit;  ///< by head, before softmax
};

/// All steps since the last logged one, including this step.
struct IntervalStats {
  index_t steps = 0;
  index_t clipped = 0;  ///< steps whose gradients were scaled
  index_t skipped = 0;  ///< steps refused by accepts() or with a gradient that is not finite
  // Over the finite losses and total norms before clipping; NaN if there are none.
  double loss_min = kNone, loss_max = kNone;
  double grad_norm_min = kNone, grad_norm_max = kNone;
  double grad_cosine = kNone;  ///< mean cosine between the gradients of a step and of the step before, from a sample
  index_t cosines = 0;         ///< over so many steps
  index_t still = 0;           ///< steps that changed no parameter

  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
};

/// Values that depend on the clock or the machine.
struct Wall {
  double seconds = 0;  ///< since the log was opened
  std::optional<double> tokens_per_second = {};
  std::int64_t memory_bytes = 0;  ///< resident
};

struct StepRecord {
  index_t step = 0;
  double loss = 0;
  std::optional<double> validation_loss = {};
  double lr = 0;
  double grad_norm = 0;                    ///< joint, before clipping
  double clip_factor = 1;                  ///< joint norm after clipping / before
  std::optional<double> loss_z = {};       ///< distance from the mean of the last steps in standard deviations
  std::optional<double> grad_norm_z = {};  ///< of the logarithm of the norm
  std::optional<index_t> classes = {};     ///< number of classes of the loss
  std::optional<index_t> targets = {};     ///< targets of the loss over classes that count
  std::optional<double> dropout = {};      ///< largest probability
  bool evaluation = false;                 ///< batch norm or dropout ran in evaluation mode
  std::optional<InputStats> input = {};
  std::optional<OptimizerInfo> optimizer = {};             ///< in the first line
  std::vector<std::pair<std::string, double>> extra = {};  ///< metrics of the script's own
  IntervalStats interval = {};
  std::vector<ParameterStats> parameters = {};
  std::vector<LayerStats> layers = {};  ///< in order of execution
  std::vector<UnitStats> units = {};
  std::vector<TimeStats> times = {};
  std::vector<AttentionStats> attention = {};
  Wall wall = {};
};

/// An event at a step: a line of events.jsonl.
struct EventRecord {
  index_t step = 0;
  std::string kind;  ///< "nonfinite", "spike", "skipped", "anomaly", "dump", "finished", "stopped"
  std::string text;  ///< one sentence
  std::string layer = {}, op = {};
  std::string file = {};  ///< with details, relative to the run folder
  double value = 0;       ///< the norm or loss that caused the event
};

}  // namespace xtape

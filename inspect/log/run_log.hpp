// RunLog: writes the run folder and the console lines of a training run.
//
//   RunLog log(args, store, {.interval = 10});
//   for (index_t step = 0; step < args.steps(); ++step) {
//     ... backward, norm = clip_grad_norm(store, 1.0) ...
//     if (log.accepts(step, loss.item(), norm)) opt.step(rate);
//     log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm}, opt);
//     store.zero_grad();
//   }
//   log.finish();
//
// On the steps that are logged, a probe measures every parameter, layer, time step, gate and attention head.
// docs/run_folder.md describes the directory; `xtape inspect` reads it.
#pragma once

#include <xtape/core/param_store.hpp>
#include <xtape/inspect/run/description.hpp>
#include <xtape/inspect/run/records.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct RunLogOptions {
  index_t interval = 10;  ///< log every `interval`-th step
  bool console = true;    ///< print a line for each logged step, a progress bar on a terminal, and a table at the end
};

/// What the log asks of an optimizer.
struct OptimizerView {
  struct Rates {
    double lr_scale = 1, weight_decay = 0;
  };
  struct Description {
    OptimizerInfo info;
    std::map<std::string, Rates> rates;  ///< by parameter
  };

  std::function<double(const Parameter&)> update_norm;
  std::function<Description()> describe = {};  ///< null for an optimizer of one's own without groups
};

/// Of a class with `update_norm`, and with `name`, `options` and `groups` or without them.
template <class Optimizer>
OptimizerView view_of(const Optimizer& optimizer) {
  OptimizerView view{[&optimizer](const Parameter& parameter) { return optimizer.update_norm(parameter); }};
  if constexpr (requires { optimizer.name(), optimizer.options(), optimizer.groups(); })
    view.describe = [&optimizer] {
      OptimizerView::Description out{{optimizer.name(), {optimizer.options().begin(), optimizer.options().end()}}, {}};
      for (const auto& group : optimizer.groups())
        for (const Parameter& p : group.parameters) out.rates[p.name()] = {group.lr_scale, group.weight_decay};
      return out;
    };
  return view;
}

class RunLog {
 public:
  /// Makes the run's directory and writes run.json. If `run.resumes`, opens the directory instead and waits for
  /// load_state. A program passes its Args, which convert to RunDescription. Throws FileError if the directory is not
  /// empty, is in use by another run or cannot be written, ValueError for an interval below 1.
  RunLog(const RunDescription& run, const ParamStore& store, const RunLogOptions& options = {});
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// Whether this step is logged in any case: the first step, the last of run.steps and every interval-th. A step with
  /// a validation loss is logged too.
  bool due(index_t step) const;

  /// Returns whether the optimizer may make this step. Call it before optimizer.step(). With --on-trouble skip it
  /// returns false if the loss or the gradient norm is NaN, infinite or a spike; with stop only if one is NaN or
  /// infinite; with warn never.
  bool accepts(index_t step, double loss, double grad_norm);

  /// Records a step. Call it on every step, after optimizer.step() and before zero_grad(). Gradient norms are those
  /// from before clipping, weight norms those after the update; an update ratio is update_norm / weight_norm, and 0 if
  /// the update is 0. Without `grad_norm` the total is computed from the parameters. If a file cannot be written, the
  /// log prints one warning and continues without its files. Throws ValueError if the step does not come after the last
  /// one, or the log is finished or waits for load_state, and GradientError after a failed backward pass; then nothing
  /// is written. Throws DivergedError, after writing, if the loss or the gradient is not finite and --on-trouble is
  /// stop.
  template <class Optimizer>
  void step(index_t step, const StepMetrics& metrics, const Optimizer& optimizer) {
    record(step, metrics, view_of(optimizer));
  }

  /// Saves the attention weights [layers, heads, queries, keys] of a chosen sentence as attention/step_N.npy, and the
  /// text at each position beside it, for the report. Call it on few steps. If the files cannot be written, the log
  /// prints a warning and continues. Throws ShapeError for weights of another rank or more positions than `tokens`.
  void attention(index_t step, const std::vector<std::string>& tokens, const Array& weights);

  /// For checkpoints: flushes the files to disk and returns the state that the records of later steps depend on.
  std::string state();
  /// Resumes a run at `step`: restores the state and cuts the records of this and later steps from all files. Throws
  /// FileError, and ValueError for a text that is no state.
  void load_state(index_t step, const std::string& state);

  /// Records that the run ends before it is finished, to be resumed later or never, and why: "stopped by SIGINT after
  /// 13 of 40 steps". Checkpoints calls it. Without it, and without finish(), the run counts as killed, or, if an error
  /// ends it, as stopped by that.
  void stop(const std::string& why);

  /// Prints the table of layers and the name of the directory, and closes the files.
  void finish();

  const std::string& directory() const;

 private:
  void record(index_t step, const StepMetrics& metrics, const OptimizerView& optimizer);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xtape::inline XTAPE_DTYPE

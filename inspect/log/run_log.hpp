// RunLog: the run directory and the console lines of a training run.
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
// On the steps that are logged a probe looks on, so that the log tells of every parameter, layer, time step, gate and
// attention head. docs/run_directory.md says what the directory holds; `xtape inspect` reads it.
#pragma once

#include <xtape/core/param_store.hpp>
#include <xtape/inspect/run/run_json.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>
#include <xtape/train/args.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct RunLogOptions {
  index_t interval = 10;  ///< every how many steps one is logged
  bool console = true;    ///< print a line for each logged step, a progress bar on a terminal, and a table at the end
};

class RunLog {
 public:
  /// Makes the directory args.out(), by default runs/<program>-<UTC time>, and writes run.json; with args.resume()
  /// opens that directory, and waits for load_state. Takes --detect-anomaly and --on-trouble from the arguments. Throws
  /// FileError if the directory is not empty, in use by another run or cannot be written, ValueError for an interval
  /// below 1.
  RunLog(const Args& args, const ParamStore& store, const RunLogOptions& options = {});
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// True if this step is logged in any case: the first one seen, the last of args.steps(), and every interval-th. A
  /// step with a validation loss is logged too.
  bool due(index_t step) const;

  /// False if --on-trouble says that this step must make no update: skip, and loss or norm is not finite or a spike by
  /// the steps before; stop, and one is not finite. To be asked before the optimizer's step; without it all steps are
  /// made, but for those that the optimizer itself refuses.
  bool accepts(index_t step, double loss, double grad_norm);

  /// To be called on every step, after the optimizer's and before zero_grad(): gradient norms are those from before
  /// clipping, weight norms those after the update, and an update ratio is update_norm / weight_norm (0 if both are).
  /// Without `grad_norm` the total is computed from the parameters'. If the disk refuses a line, one warning is printed
  /// and the run goes on without the files. Throws ValueError if the step does not come after the last one or the log
  /// is finished or waits for load_state, GradientError after a failed backward pass; then nothing is written. Throws
  /// DivergedError after writing if loss or gradient are not finite and --on-trouble is stop.
  template <class Optimizer>
  void step(index_t step, const StepMetrics& metrics, const Optimizer& optimizer) {
    record(step, metrics, [&optimizer](const Parameter& parameter) { return optimizer.update_norm(parameter); });
  }

  /// Keeps how heads attended to a chosen sentence, for the report: weights [layers, heads, queries, keys] as
  /// attention/step_N.npy, and beside it the text of each place. To be called on few steps. If the disk refuses, a
  /// warning is printed and the run goes on. Throws ShapeError if the weights have another rank or other places.
  void attention(index_t step, const std::vector<std::string>& tokens, const Array& weights);

  /// For checkpoints: brings all lines to the disk, and returns what the lines of later steps depend on.
  std::string state();
  /// Goes on at `step` of a run that is resumed, as if it had not been interrupted: the lines of this and later steps
  /// are cut from all files. Throws FileError, and ValueError for a state that is none.
  void load_state(index_t step, const std::string& state);

  /// Prints the table of layers and the name of the directory, and closes the files.
  void finish();

  const std::string& directory() const;

 private:
  using UpdateNorm = std::function<double(const Parameter&)>;
  void record(index_t step, const StepMetrics& metrics, const UpdateNorm& update_norm);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xtape::inline XTAPE_DTYPE

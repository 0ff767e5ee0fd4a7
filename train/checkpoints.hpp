// Checkpoints: saves the complete state of a training run in files. A run that is interrupted and resumed ends with the
// same bits as one that is not.
//
//   args.resumable();                                 // --resume RUN
//   ...
//   RunLog log(args, store, {.interval = 50});
//   Checkpoints checkpoints(args, store, opt, log, {.interval = 250});
//   for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
//     ... log.step(step, ...), store.zero_grad() ...
//     checkpoints.step(step);
//   }
//
// A checkpoint is the safetensors file checkpoints/step_N.safetensors in the run's directory, written after N steps. It
// holds the weights and buffers under their names, optimizer/SLOT/PARAMETER, carried/NAME/I, and a record in the
// metadata.
#pragma once

#include <xtape/data/safetensors.hpp>
#include <xtape/optim/optimizer.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/checkpoint_record.hpp>
#include <xtape/train/mismatches.hpp>
#include <xtape/train/stop_signals.hpp>

#include <functional>

namespace xtape::inline XTAPE_DTYPE {

class RunLog;

struct CheckpointOptions {
  index_t interval = 250;    ///< save every `interval` steps and after the last step
  index_t keep = 3;          ///< number of checkpoints to keep, the newest ones
  Metadata must_match = {};  ///< must be equal on resume: {{"text", text.fingerprint()}}
  bool console = true;       ///< print a line on resume
};

class Checkpoints {
 public:
  /// Checkpoints of the run of `log`, whose state is saved and loaded too. From here on SIGINT, SIGTERM and SIGHUP take
  /// effect at the end of a step. Throws ValueError for an interval or a number to keep below 1.
  Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, RunLog& log,
              const CheckpointOptions& options = {});
  /// Checkpoints in the folder `run`, without a log.
  Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, const std::string& run,
              const CheckpointOptions& options = {});

  // The rest of the state that the next step depends on. Declare all of it before resume(); the objects must outlive
  // this one. Throw NameError if the name is taken. Dropout masks need no declaration: the store counts them.

  /// Tensors passed from step to step, such as the state of a recurrent model. They are restored as constants.
  void carry(const std::string& name, std::vector<Tensor>& tensors);
  /// A random stream that is read across steps.
  void carry(const std::string& name, Random& random);
  /// Any object with `std::string state()` and `void load_state(index_t step, const std::string&)`.
  template <class Object>
  void carry(const std::string& name, Object& object) {
    carry_state(
        name, [&object] { return object.state(); },
        [&object](index_t step, const std::string& state) { object.load_state(step, state); });
  }

  /// Returns the step to start with: 0 in a new run. With --resume loads the newest intact checkpoint and prints a
  /// warning for each damaged one. Throws FileError if all are damaged, MismatchError with all differences if the
  /// newest intact one does not fit, and StopRequested if args.stop_after() steps are done or a signal has come; then
  /// nothing is loaded. A run that has done all of args.steps() is loaded, and has no step to start with.
  index_t resume();

  /// Reports a validation loss measured before `step`. If it is the lowest so far, saves the state in
  /// checkpoints/best.safetensors. NaN is ignored.
  void validated(index_t step, double loss);

  /// Call it at the end of every step, after zero_grad(). Saves a checkpoint every `interval` steps. After a
  /// signal or at least args.stop_after() steps, saves one and throws StopRequested. Throws ValueError if there are
  /// gradients, FileError if the file cannot be written; older checkpoints stay unchanged.
  void step(index_t step);

  /// Saves the state before `step` in a file.
  void save(const std::string& path, index_t step);
  /// Restores the state from a file and returns the next step. Throws FileError for a damaged file, MismatchError with
  /// all differences for one that does not fit; nothing is changed then.
  index_t load(const std::string& path);

 private:
  using SaveState = std::function<std::string()>;
  using LoadState = std::function<void(index_t, const std::string&)>;
  struct Contents;

  void carry_state(const std::string& name, SaveState save, LoadState load);
  void check_free(const std::string& name) const;

  CheckpointRecord record(index_t step) const;
  Contents checked(const std::string& path) const;
  index_t apply(const Contents& contents);
  void check_record(const CheckpointRecord& record, const Metadata& metadata, Mismatches& mismatches) const;
  void save_in_directory(const std::string& path, index_t step);
  void remove_old(index_t done) const;
  bool must_stop(index_t done) const;
  [[noreturn]] void stop(index_t done) const;

  const Args& args_;
  ParamStore& store_;
  Optimizer& optimizer_;
  RunLog* log_ = nullptr;  // null without one
  std::string run_, directory_;
  CheckpointOptions options_;
  std::map<std::string, std::vector<Tensor>*> tensors_;
  std::map<std::string, Random*> randoms_;
  std::map<std::string, std::pair<SaveState, LoadState>> states_;
  std::optional<double> best_loss_;
  std::optional<StopSignals> signals_;  // until the last step
};

}  // namespace xtape::inline XTAPE_DTYPE

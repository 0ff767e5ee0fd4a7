// Checkpoints: everything that a training run would go on from, kept in files, so that a run that is interrupted and
// resumed ends with the same bits as one that is not.
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
// A checkpoint is a safetensors file in the run's directory, checkpoints/step_N.safetensors after N steps: weights and
// buffers under their names; optimizer/SLOT/PARAMETER; carried/NAME/I; and in the metadata the record of the rest.
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
  index_t interval = 250;    ///< every how many steps one is saved; the last step is saved in any case
  index_t keep = 3;          ///< how many of them are kept, the newest ones
  Metadata must_match = {};  ///< what must be the same when the run goes on: {{"text", text.fingerprint()}}
  bool console = true;       ///< print a line when a run goes on
};

class Checkpoints {
 public:
  /// Checkpoints of the run of `log`, whose state is saved and loaded too. From here on SIGINT and SIGTERM take effect
  /// at the end of a step. Throws ValueError for an interval or a number to keep below 1.
  Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, RunLog& log,
              const CheckpointOptions& options = {});
  /// The same in the folder of a run, without a log.
  Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, const std::string& run,
              const CheckpointOptions& options = {});

  // What else the next step depends on. All have to be declared before resume(), and to live as long as this object;
  // NameError for a name that is taken. Random masks of dropout need not be declared: the store counts them.

  /// Values handed from step to step, such as a recurrent model's state; they come back as constants.
  void carry(const std::string& name, std::vector<Tensor>& tensors);
  /// A stream of random numbers that is read from step to step.
  void carry(const std::string& name, Random& random);
  /// Any object with `std::string state()` and `void load_state(index_t step, const std::string&)`.
  template <class Object>
  void carry(const std::string& name, Object& object) {
    carry_state(
        name, [&object] { return object.state(); },
        [&object](index_t step, const std::string& state) { object.load_state(step, state); });
  }

  /// The step to begin with: 0 in a new run. With args.resume() the newest sound checkpoint is loaded; a warning
  /// is printed for each that is damaged. Throws FileError if all are damaged, MismatchError with all differences if
  /// the newest sound one does not fit.
  index_t resume();

  /// Notes a validation loss measured before `step`; the state of the lowest one so far, NaN left out, is kept in
  /// checkpoints/best.safetensors.
  void validated(index_t step, double loss);

  /// To be called at the end of every step, after zero_grad(): saves a checkpoint when it is time. After SIGINT,
  /// SIGTERM or args.stop_after() steps saves one and throws StopRequested. Throws ValueError if there are gradients,
  /// FileError if the file cannot be written; all that were saved before stay as they are.
  void step(index_t step);

  /// Saves the state before `step` in a file of its own.
  void save(const std::string& path, index_t step);
  /// Takes everything from a file and returns the step to go on with. Everything is checked before anything is changed:
  /// throws FileError for a file that is not sound, MismatchError with all differences for one that does not fit.
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

  const Args& args_;
  ParamStore& store_;
  Optimizer& optimizer_;
  std::string run_, directory_;
  CheckpointOptions options_;
  std::map<std::string, std::vector<Tensor>*> tensors_;
  std::map<std::string, Random*> randoms_;
  std::map<std::string, std::pair<SaveState, LoadState>> states_;
  std::optional<double> best_loss_;
  std::optional<StopSignals> signals_;  // until the last step
};

}  // namespace xtape::inline XTAPE_DTYPE

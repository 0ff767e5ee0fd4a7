// Base class of the optimizers. A derived class gives the options and the update of one parameter.
#pragma once

#include <xtape/optim/param_groups.hpp>

#include <map>
#include <memory>

namespace xtape::inline XTAPE_DTYPE {

/// The state of an optimizer for one parameter.
struct ParameterState {
  std::int64_t steps = 0;              ///< number of steps taken
  std::map<std::string, Array> slots;  ///< arrays of the parameter's shape by PyTorch's names, such as "exp_avg"
};

/// The whole state of an optimizer, as stored in a checkpoint.
struct OptimizerState {
  std::string optimizer;                  ///< name of the optimizer, such as "adamw"
  std::map<std::string, double> options;  ///< constructor options by name, such as "beta1"; booleans are 0 or 1
  std::map<std::string, ParameterState> parameters;  ///< by parameter name; only parameters that have been stepped
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every trainable parameter that has a gradient; the gradients stay as they are. If one of these gradients
  /// holds NaN or infinity, or if the step would write NaN or infinity into a parameter or a slot, changes nothing and
  /// returns false. Throws ValueError for a negative, infinite or NaN rate, GradientError after a failed backward pass;
  /// an exception leaves everything unchanged.
  bool step(double lr);

  const std::string& name() const { return name_; }
  const std::vector<ParamGroup>& groups() const { return groups_; }
  /// Constructor options by name, such as "beta1"; booleans are 0 or 1.
  const std::map<std::string, double>& options() const { return options_; }

  /// 2-norm of what the last step subtracted from the parameter, weight decay included; 0 if it did not change the
  /// parameter.
  double update_norm(const Parameter& parameter) const;

  /// A copy of the state.
  OptimizerState state() const;
  /// Replaces the state, so that training continues as if it had not stopped. Parameters missing in `state` start anew.
  /// Throws ValueError for the state of another optimizer or of other options, NameError for an unknown parameter and
  /// for a missing or unknown slot, ShapeError for a slot of the wrong shape. An exception leaves everything unchanged.
  void load_state(const OptimizerState& state);
  /// Throws what load_state would throw. Changes nothing.
  void check(const OptimizerState& state) const;

 protected:
  /// How weight decay acts: l2 adds decay * w to the gradient, decoupled subtracts lr * decay * w from the weight.
  enum class Decay { l2, decoupled };

  /// The update of one parameter in one step.
  struct Update {
    double lr;           ///< learning rate times the group's lr_scale
    double l2;           ///< g += l2 * w
    double decay;        ///< w -= decay * w
    std::int64_t steps;  ///< number of this step, from 1
    const real* gradient;
    real* value;
    std::vector<real*> slots;  ///< in the order of the slot names given to the constructor; zeros in the first step
    index_t size;
  };

  /// Upper bounds of magnitudes: of the value, then of the slots.
  using Bounds = std::vector<double>;

  /// Throws ValueError or NameError for invalid groups; see check_groups.
  Optimizer(std::string name, Decay decay, std::vector<ParamGroup> groups, std::vector<std::string> slots,
            std::map<std::string, double> options);

  /// Throws ValueError unless 0 <= weight < 1.
  static void check_beta(const std::string& optimizer, const char* option, double weight);

 private:
  struct Memory {
    ParameterState state;
    double update_norm = 0;
    Bounds bounds{};            // of value and slots; empty: unknown
    std::uint64_t version = 0;  // of the parameter to which the bounds belong
  };

  /// A step on copies of value and slots.
  struct Trial {
    Array value;
    std::vector<Array> slots;
    double update_norm = 0;
  };

  /// A parameter that the step will update.
  struct Pending {
    Parameter parameter;
    Memory* memory;
    Update update;
    Bounds bounds;  // after the step
    std::unique_ptr<Trial> trial;
  };

  /// Updates the value and the slots of one parameter. Returns the sum of squares of what it subtracted from the value.
  /// Must not throw.
  virtual double update(const Update& update) const = 0;

  /// A bound of the magnitude of every number that `update` would compute, from its rates and from bounds of gradient
  /// and state, which become those of the state after the step. If it is infinite or near the end of the range, the
  /// step is tried on copies first. Must not read the arrays of `rates`.
  virtual double bound(const Update& rates, double gradient, Bounds& state) const;

  std::vector<Pending> pending(double lr);
  bool all_fit(std::vector<Pending>& pending) const;
  bool certainly_fits(Pending& pending, double gradient) const;
  Trial try_on_copies(const Pending& pending) const;
  void prepare(Pending& pending);
  void make(Pending& pending) const;
  void check_parameter(const Parameter& parameter, const ParameterState& state) const;

  std::string name_;
  Decay decay_;
  std::vector<ParamGroup> groups_;
  std::vector<std::string> slots_;
  std::map<std::string, double> options_;
  std::map<std::string, Memory> memory_;  // by parameter name
};

}  // namespace xtape::inline XTAPE_DTYPE

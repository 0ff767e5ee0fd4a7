// Optimizer: what all optimizers share. A derived class gives the options and the update of one parameter.
#pragma once

#include <xtape/optim/param_groups.hpp>

#include <map>

namespace xtape::inline XTAPE_DTYPE {

/// What an optimizer remembers of one parameter.
struct ParameterState {
  std::int64_t steps = 0;              ///< taken so far
  std::map<std::string, Array> slots;  ///< by PyTorch's names ("exp_avg"), each of the parameter's shape
};

/// All that an optimizer remembers, for checkpoints.
struct OptimizerState {
  std::string optimizer;                             ///< its name: "adamw"
  std::map<std::string, double> options;             ///< those it was made with: "beta1"; switches are 0 or 1
  std::map<std::string, ParameterState> parameters;  ///< by parameter name; only those stepped so far
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Steps every trainable parameter that has a gradient; the gradients stay as they are. If any gradient that would be
  /// used is not finite, nothing is changed and false is returned. Throws ValueError for a negative, infinite or NaN
  /// rate, GradientError after a failed backward pass; then too nothing is changed.
  bool step(double lr);

  const std::string& name() const { return name_; }
  const std::vector<ParamGroup>& groups() const { return groups_; }

  /// 2-norm of what the last step subtracted from a parameter, decay included; 0 if it was left alone.
  double update_norm(const Parameter& parameter) const;

  /// A copy of the state, independent of later steps.
  OptimizerState state() const;
  /// Takes over a state, so that the next step is the one that would have followed. Parameters that it does not name
  /// start anew. Before anything is changed, throws ValueError for the state of another optimizer or of other options,
  /// NameError for an unknown parameter or for slots missing or unknown, ShapeError for a slot of another shape.
  void load_state(const OptimizerState& state);
  /// Throws what load_state would throw, and changes nothing.
  void check(const OptimizerState& state) const;

 protected:
  /// What weight decay does: l2 adds decay * w to the gradient, decoupled subtracts lr * decay * w from the weight.
  enum class Decay { l2, decoupled };

  /// One parameter in one step.
  struct Update {
    double lr;           ///< group's scale included
    double l2;           ///< g += l2 * w
    double decay;        ///< w -= decay * w
    std::int64_t steps;  ///< 1 at the first
    const real* gradient;
    real* value;
    std::vector<real*> slots;  ///< in the order of the constructor's names; zeros at the first step
    index_t size;
  };

  /// Throws ValueError or NameError for groups that are not valid (see check_groups).
  Optimizer(std::string name, Decay decay, std::vector<ParamGroup> groups, std::vector<std::string> slots,
            std::map<std::string, double> options);

  /// Throws ValueError unless 0 <= weight < 1.
  static void check_beta(const std::string& optimizer, const char* option, double weight);

 private:
  struct Memory {
    ParameterState state;
    double update_norm = 0;
  };

  /// Updates value and slots; returns the sum of squares of what it subtracted. Must not throw.
  virtual double update(const Update& update) const = 0;

  Update prepare(const ParamGroup& group, Parameter& parameter, double lr);
  void check_parameter(const Parameter& parameter, const ParameterState& state) const;

  std::string name_;
  Decay decay_;
  std::vector<ParamGroup> groups_;
  std::vector<std::string> slots_;
  std::map<std::string, double> options_;
  std::map<std::string, Memory> memory_;  // by parameter name
};

}  // namespace xtape::inline XTAPE_DTYPE

// UpdateSplit: splits the updates of an optimizer into the part of the gradients and the part of weight decay.
//
//   AdamW opt(decay_groups(store, 0.1));
//   UpdateSplit split(opt);
//   ...
//   if (log.accepts(step, loss.item(), norm)) split.step(rate, log.due(step));    // instead of opt.step(rate)
//   for (const SplitStats& p : split.numbers()) std::cout << p.name << " " << p.gradient << " " << p.decay << "\n";
#pragma once

#include <xtape/optim/optimizer.hpp>

#include <map>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// 2-norms of what one step subtracted from a parameter: update = gradient part + decay part, as vectors.
struct SplitStats {
  std::string name;
  double update = 0, gradient = 0, decay = 0;
};

/// One weight in one step.
struct DecayedWeight {
  double root_v;  ///< sqrt(v), v the bias-corrected running mean of the squared gradient that divided this step
  double rate;    ///< the decay part / the weight: the fraction of it that decay took away
};

/// The decay part is
///   decoupled (SGDW, AdamW)  lr decay w;
///   SGD                      lr u with u = momentum u + (1 - dampening) decay w, the part of weight decay in the
///                            velocity (nesterov: lr (decay w + momentum u));
///   Adam                     lr u / (1 - beta1^t) / (sqrt(v) + eps) with u = beta1 u + (1 - beta1) decay w, the part
///   of
///                            weight decay in the mean; v is the optimizer's, which weight decay influences too.
/// The gradient part is the rest. It must follow the optimizer from the first step; each step copies the weights.
class UpdateSplit {
 public:
  /// Throws UnsupportedError for any other optimizer, ValueError for one that has made steps. Keeps a reference to the
  /// optimizer.
  explicit UpdateSplit(Optimizer& optimizer);

  /// Calls optimizer.step(lr). With `measure`, also computes the numbers of this step; without it there are none.
  bool step(double lr, bool measure);

  /// One for each parameter that the last step updated, in the order of the optimizer's groups.
  const std::vector<SplitStats>& numbers() const { return numbers_; }
  /// One for each of their weights that decays and is not 0. Adam and AdamW only.
  const std::vector<DecayedWeight>& weights() const { return weights_; }

 private:
  struct Moved {
    const ParamGroup* group;
    Parameter parameter;
    Array before;
  };
  struct Share {
    std::int64_t steps = 0;
    std::vector<double> u;  ///< the part of weight decay in the velocity or the mean; empty if decoupled
  };

  double option(const char* name) const { return options_.at(name); }
  std::vector<Moved> about_to_move() const;
  void advance(Share& share, const Moved& moved) const;
  std::vector<double> roots_of(const Array& v, std::int64_t steps) const;
  std::vector<double> decay_part(const Share& share, const Moved& moved, const std::vector<double>& roots,
                                 double lr) const;
  void measure(const Moved& moved, const Share& share, const OptimizerState& state, double lr);

  Optimizer& optimizer_;
  std::map<std::string, double> options_;
  bool adam_, decoupled_;
  std::map<std::string, Share> shares_;  // by parameter name
  std::vector<SplitStats> numbers_;
  std::vector<DecayedWeight> weights_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// GradientHistory: what a run log needs of the gradients of all steps, logged or not: whether successive gradients
// point the same way, and which rows of a weight never got one.
#pragma once

#include <xtape/core/parameter.hpp>
#include <xtape/inspect/log/log_state.hpp>

#include <optional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

class GradientHistory {
 public:
  explicit GradientHistory(std::vector<Parameter> parameters);

  /// Adds the gradients of a step, from before clipping. Returns the cosine between them and those of the step before,
  /// from a fixed sample of elements; nothing if one of the two is 0 or not finite.
  std::optional<double> add();

  /// Share of the rows (the first axis, of a parameter with several) that got no gradient in any step.
  double untouched_rows(const Parameter& parameter) const;

  /// Nothing before the first step.
  const std::optional<GradientSample>& state() const { return state_; }
  void restore(GradientSample state);

 private:
  GradientSample first() const;

  std::vector<Parameter> parameters_;
  index_t stride_;
  std::optional<GradientSample> state_;
};

/// Share of the rows of a parameter with several axes that equal the row before; nothing if there are none.
std::optional<double> equal_rows(const Parameter& parameter);

}  // namespace xtape::inline XTAPE_DTYPE

// Shared by the losses: from one loss an element to the result. Not part of the public interface.
#pragma once

#include <xtape/core/ops/loss.hpp>

namespace xtape::inline XTAPE_DTYPE {

class LossReduction {
 public:
  /// `counted` losses enter the mean, `shape` is the shape of all. Throws ShapeError for the batch mean of a scalar.
  LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape);

  /// The losses themselves, or their sum times `scale()`.
  Tensor result(Array losses) const;

  /// d result / d losses, times the upstream gradient: `weights.data()[i * step()]` for loss i.
  Array weights(const Array& upstream) const;
  index_t step() const { return each_ ? 1 : 0; }

  bool each() const { return each_; }
  real scale() const { return static_cast<real>(scale_); }

 private:
  bool each_;     // no reduction
  double scale_;  // of the sum
};

}  // namespace xtape::inline XTAPE_DTYPE

// Parameter: a named array that training changes, with its gradient.
#pragma once

#include <xtape/core/tensor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// A shared handle: copies refer to the same value and gradient, so weights are tied by copying.
class Parameter {
 public:
  Parameter() = default;
  /// `decays`: whether weight decay applies by default.
  Parameter(std::string name, Array value, bool decays = true);

  bool defined() const { return data_ != nullptr; }
  bool same_as(const Parameter& other) const { return data_ == other.data_; }

  // Every function below throws ValueError on an empty handle.

  const std::string& name() const { return data().name; }
  const Array& value() const { return data().value.array(); }
  const Shape& shape() const { return data().value.shape(); }
  index_t numel() const { return xtape::numel(value()); }

  /// The value as an operand. If a tape records and the parameter is trainable, gradients flow to it.
  operator Tensor() const { return tensor(); }
  Tensor tensor() const;

  bool trainable() const { return data().trainable; }
  void set_trainable(bool trainable) { data().trainable = trainable; }
  bool decays() const { return data().decays; }
  void set_decays(bool decays) { data().decays = decays; }

  /// Replaces the value. Tensors made from it before keep the old one. Throws ShapeError if the shape differs.
  void set_value(const Array& value);
  /// Writable elements of the value, for optimizers. Counts as a change; do not keep the pointer.
  real* edit();
  /// How often the value was changed. A backward pass throws if it changed since the forward pass.
  std::uint64_t version() const { return data().version; }

  /// Whether a backward pass reached this parameter since the last `zero_grad()`.
  bool has_grad() const { return data().state != GradState::none; }
  /// The sum of the gradients since the last `zero_grad()`; zeros if there is none. Throws GradientError after a
  /// backward pass that failed.
  const Array& grad() const;
  /// Replaces the gradient. Throws ShapeError if the shape differs.
  void set_grad(const Array& grad);
  /// Writable elements of the gradient, for clipping. Throws as `grad()`.
  real* edit_grad();
  /// The 2-norm of the gradient before clipping: the cached one, if clipping cached it. Throws as `grad()`.
  double grad_norm() const;
  /// Caches the norm before clipping, and the factor of clipping, until the gradient changes.
  void cache_grad_norm(double norm, double clip_factor = 1) {
    data().cached_norm = norm;
    data().clip_factor = clip_factor;
  }
  /// The cached factor by which clipping scaled the gradient; 1 without clipping.
  double clip_factor() const { return data().cached_norm >= 0 ? data().clip_factor : 1; }

  /// Drops the gradient; the next backward pass overwrites it.
  void zero_grad();

 private:
  friend class Tape;
  friend class Grads;
  friend std::vector<Parameter> distinct(const std::vector<Parameter>& parameters);

  enum class GradState { none, summed, invalid };

  struct Data {
    std::string name;
    Storage value;
    Array grad;
    GradState state = GradState::none;
    double cached_norm = -1;  // negative: none
    double clip_factor = 1;   // cached with the norm
    bool trainable = true;
    bool decays = true;
    std::uint64_t version = 0;
    std::uint64_t leaf_tape = 0;  // the tape that last used this parameter, and its node there
    std::uint32_t leaf_node = 0;
  };

  Data& data() const;

  std::shared_ptr<Data> data_;
};

/// The handles in their order, without those that name a parameter again. Throws ValueError for an empty handle.
std::vector<Parameter> distinct(const std::vector<Parameter>& parameters);

}  // namespace xtape::inline XTAPE_DTYPE

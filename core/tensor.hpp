// Tensor: a cheap handle to an immutable value that knows its place on the tape, if it has one.
#pragma once

#include <xtape/core/shape.hpp>
#include <xtape/core/storage.hpp>

namespace xtape::inline XTAPE_DTYPE {

class Tensor {
 public:
  /// An empty handle; ops read it as "not given" (a missing bias).
  Tensor() = default;
  /// A constant. (Two of them, because each move of an array costs as much as a small op's arithmetic.)
  Tensor(Array&& value) : storage_(std::move(value)) { element_count(storage_.array().shape(), "tensor"); }
  Tensor(const Array& value) : storage_(value) { element_count(storage_.array().shape(), "tensor"); }

  explicit Tensor(Storage value) : storage_(std::move(value)) { element_count(storage_.array().shape(), "tensor"); }

  static Tensor scalar(real value);
  static Tensor zeros(const Shape& shape);
  static Tensor ones(const Shape& shape);

  bool defined() const { return static_cast<bool>(storage_); }

  /// The value. Throws ValueError on an empty handle.
  const Array& value() const;
  const Shape& shape() const { return value().shape(); }
  const real* data() const { return value().data(); }
  index_t numel() const { return static_cast<index_t>(value().size()); }
  std::size_t rank() const { return value().dimension(); }
  /// Extent of an axis; negative ones count from the end. Throws ShapeError.
  index_t size(index_t axis) const;

  /// The single element of a tensor of size 1. Throws ShapeError otherwise.
  real item() const;

  /// True if a gradient can flow to this tensor: it was recorded on a tape.
  bool tracked() const { return tape_ != 0; }
  /// The same value with no place on any tape: cuts the gradient, and outlives the tape.
  Tensor detach() const;

 private:
  friend class Tape;
  friend class Parameter;

  Storage storage_;
  std::uint64_t tape_ = 0;  // serial number of the tape, 0 for none
  std::uint32_t node_ = 0;
};

}  // namespace xtape::inline XTAPE_DTYPE

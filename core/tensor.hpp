// Tensor: a cheap handle to an immutable array, with its node on a tape if it has one.
#pragma once

#include <xtape/core/shape.hpp>
#include <xtape/core/storage.hpp>

namespace xtape::inline XTAPE_DTYPE {

class Tensor {
 public:
  /// An empty handle; for an op it means that an operand is not given (a missing bias).
  Tensor() = default;
  /// A constant. Throws ValueError if XTAPE_GEMM names no library of products. (Two constructors, as moving an array
  /// costs as much as the arithmetic of a small op.)
  Tensor(Array&& value) : storage_(std::move(value)) { check(); }
  Tensor(const Array& value) : storage_(value) { check(); }

  explicit Tensor(Storage value) : storage_(std::move(value)) { check(); }

  static Tensor scalar(real value);
  static Tensor zeros(const Shape& shape);
  static Tensor ones(const Shape& shape);

  bool defined() const { return static_cast<bool>(storage_); }

  /// The value. Throws ValueError on an empty handle.
  const Array& value() const { return storage().array(); }
  const Shape& shape() const { return storage().shape(); }
  const real* data() const { return value().data(); }
  index_t numel() const { return xtape::numel(value()); }
  index_t rank() const { return shape().rank(); }
  /// The size of an axis; negative axes count from the end. Throws ShapeError.
  index_t size(index_t axis) const;

  /// The element of a tensor with one element. Throws ShapeError for any other.
  real item() const;

  /// Whether this tensor was recorded on a tape, so that a gradient can flow to it.
  bool tracked() const { return tape_ != 0; }
  /// The value without its node: no gradient flows to it, and it may outlive the tape.
  Tensor detach() const;

 private:
  friend class Tape;
  friend class Parameter;

  void check() const;
  const Storage& storage() const;

  Storage storage_;
  std::uint64_t tape_ = 0;  // serial number of the tape, 0 for none
  std::uint32_t node_ = 0;
};

}  // namespace xtape::inline XTAPE_DTYPE

// A reference-counted array, which tensors, parameters and gradients share.
#pragma once

#include <xtape/core/shape.hpp>

#include <atomic>
#include <utility>

namespace xtape::inline XTAPE_DTYPE {

/// A shared handle to one array in the pool. Copies are cheap; any thread may make and destroy them.
class Storage {
 public:
  Storage() = default;
  explicit Storage(Array&& value) : block_(new Block{{1}, value.shape(), std::move(value)}) {}
  explicit Storage(const Array& value) : block_(new Block{{1}, value.shape(), value}) {}
  explicit Storage(const Shape& shape) : block_(new Block{{1}, shape, empty_array(shape)}) {}  ///< not initialized
  explicit Storage(const UnsignedSizes& sizes)
      : block_(new Block{{1}, sizes, empty_array(sizes)}) {}  ///< not initialized
  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block_;
  }

  explicit operator bool() const { return block_ != nullptr; }
  bool unique() const { return block_ && block_->references.load(std::memory_order_acquire) == 1; }
  bool same_as(const Storage& other) const { return block_ == other.block_; }

  const Array& array() const { return block_->array; }
  const Shape& shape() const { return block_->shape; }
  real* edit() { return block_->array.data(); }  ///< only for the sole owner, as is reshape
  void reshape(const Shape& shape) {
    block_->array.reshape(shape.unsigned_sizes());
    block_->shape = shape;
  }

 private:
  struct Block {
    std::atomic<int> references;
    Shape shape;  // of the array, in signed sizes
    Array array;

    static void* operator new(std::size_t bytes) { return pool::allocate(bytes); }
    static void operator delete(void* block, std::size_t bytes) { pool::deallocate(block, bytes); }
  };

  Block* block_ = nullptr;
};

}  // namespace xtape::inline XTAPE_DTYPE

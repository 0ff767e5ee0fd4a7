// Uninitialized working memory of a kernel, from the pool.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/pool.hpp>

namespace xtape {

template <class T>
class Scratch {
 public:
  explicit Scratch(index_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)), data_(static_cast<T*>(pool::allocate(bytes_))) {}
  ~Scratch() { pool::deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }
  T& operator[](index_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace xtape

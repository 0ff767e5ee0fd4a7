// The order of rows that the recurrent kernels need. Not part of the public interface.
#pragma once

#include <xtape/core/kernels/recurrent.hpp>
#include <xtape/core/tensor.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// The steps of B sequences without padding as N rows: one step after the other in the order in which they run, and
/// within a step by descending length. Padding is never read.
class PackedSequence {
 public:
  /// Lengths [B], or empty for sequences of T steps each. Throws ShapeError, or IndexError for a length outside 0..T.
  PackedSequence(const char* op, index_t batch, index_t time, const IndexArray& lengths, bool reverse);

  index_t batch() const { return std::ssize(order_); }
  index_t time() const { return time_; }
  index_t rows() const { return std::ssize(place_); }
  kernels::PackedSteps steps() const;

  /// x [B, T, I] -> [N, I]; x itself, detached, if its rows are in that order already.
  Tensor pack(const Tensor& x) const;
  /// out [B, T, width] = rows [N, width]; padding becomes zero, or stays when added to.
  void unpack(const Array& rows, Output out) const;
  /// Rows of x [N, width] as [T, B, width], zeros where a sequence has no such step.
  Array by_time(const Array& rows) const;

  /// One row for each sequence: from the order of the batch to descending lengths, and back.
  void sort(const real* x, index_t width, real* out) const;
  void unsort(const real* x, index_t width, Output out) const;

 private:
  index_t time_;
  std::vector<index_t> order_;   // sequence of each rank
  std::vector<index_t> offset_;  // first row of each step, and N
  std::vector<index_t> place_;   // row b T + t of each packed row
  bool in_order_;
};

}  // namespace xtape::inline XTAPE_DTYPE

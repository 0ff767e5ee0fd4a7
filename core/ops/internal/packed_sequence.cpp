#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/indexing.hpp>
#include <xtape/core/ops/internal/packed_sequence.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

namespace {

std::vector<index_t> checked_lengths(const char* op, index_t batch, index_t time, const IndexArray& lengths) {
  if (!is_given(lengths)) return std::vector<index_t>(batch, time);
  check_shape(op, "lengths", lengths.shape(), Shape{batch});
  for (index_t length : lengths) check_index(op, "lengths", length, 0, time);
  return {lengths.begin(), lengths.end()};
}

}  // namespace

PackedSequence::PackedSequence(const char* op, index_t batch, index_t time, const IndexArray& lengths, bool reverse)
    : time_(time), order_(batch), offset_{0} {
  const std::vector<index_t> length = checked_lengths(op, batch, time, lengths);
  const auto length_of = [&](index_t b) { return length[b]; };
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](index_t a, index_t b) { return length_of(a) > length_of(b); });
  place_.reserve(std::accumulate(length.begin(), length.end(), index_t{0}));
  const index_t steps = batch ? length_of(order_[0]) : 0;
  for (index_t step = 0; step < steps; ++step) {
    for (index_t b : order_) {
      if (length_of(b) <= step) break;
      place_.push_back(b * time + (reverse ? length_of(b) - 1 - step : step));
    }
    offset_.push_back(rows());
  }
  in_order_ = rows() == batch * time && std::is_sorted(place_.begin(), place_.end());
}

kernels::PackedSteps PackedSequence::steps() const {
  return {batch(), std::ssize(offset_) - 1, offset_.data(), place_.data()};
}

Tensor PackedSequence::pack(const Tensor& x) const {
  if (in_order_) return x.detach();
  const index_t width = x.size(-1);
  Array out = empty_array({std::ssize(place_), width});
  kernels::take_rows(x.data(), place_.data(), rows(), width, out.data());
  return Tensor(std::move(out));
}

void PackedSequence::unpack(const Array& packed, Output out) const {
  const index_t width = shape_of(packed)[1];
  if (!out.add && rows() < batch() * time_) kernels::fill(out.data, 0, batch() * time_ * width);
  kernels::put_rows(packed.data(), place_.data(), rows(), width, out);
}

Array PackedSequence::by_time(const Array& packed) const {
  const index_t width = shape_of(packed)[1];
  std::vector<index_t> place = place_;
  for (index_t& row : place) row = row % time_ * batch() + row / time_;
  Array out = empty_array({time_, std::ssize(order_), width});
  kernels::fill(out.data(), 0, numel(out));
  kernels::put_rows(packed.data(), place.data(), rows(), width, {out.data()});
  return out;
}

void PackedSequence::sort(const real* x, index_t width, real* out) const {
  kernels::take_rows(x, order_.data(), batch(), width, out);
}

void PackedSequence::unsort(const real* x, index_t width, Output out) const {
  kernels::put_rows(x, order_.data(), batch(), width, out);
}

}  // namespace xtape::inline XTAPE_DTYPE

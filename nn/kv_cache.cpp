#include <xtape/core/error.hpp>
#include <xtape/nn/kv_cache.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr const char* kOp = "kv_cache";

/// Number of unpadded positions of a chunk in each sequence, [B]. Throws ShapeError, IndexError.
IndexArray chunk_lengths(const IndexArray& lengths, index_t batch, index_t time) {
  const Shape wanted = {batch};
  if (!is_given(lengths)) return full_array<IndexArray>(wanted, time);
  check_shape(kOp, "lengths", lengths.shape(), wanted);
  for (index_t length : lengths) check_index(kOp, "lengths", length, 0, time);
  return lengths;
}

/// Makes entry b of the first axis a copy of entry rows[b].
template <class A>
void select_rows(A& array, const IndexArray& rows) {
  const index_t batch = shape_of(array)[0];
  check_shape(kOp, "rows", rows.shape(), Shape{batch});
  for (index_t row : rows) check_index(kOp, "rows", row, 0, batch - 1);
  const A old = array;
  const index_t size = numel(array) / batch;
  for (index_t b = 0; b < batch; ++b) std::copy_n(old.data() + rows.data()[b] * size, size, array.data() + b * size);
}

}  // namespace

KVCache::KVCache(const KVCacheOptions& o) : options_(o), capacity_(std::min(o.capacity, o.limit)) {
  if (o.batch < 1 || o.key_heads < 1 || o.width < 1 || o.value_width < 1 || o.limit < 1 || o.capacity < 1)
    throw ValueError(kOp, "sizes of at least 1", o.batch, o.key_heads, o.width, o.value_width, o.limit, o.capacity);
  keys_ = rows_array(capacity_, o.width);
  values_ = rows_array(capacity_, o.value_width);
  lengths_ = full_array<IndexArray>({o.batch}, 0);
}

Array KVCache::rows_array(index_t capacity, index_t width) const {
  return full_array({options_.batch, options_.key_heads, capacity, cached_row_width(width)}, real(0));
}

index_t KVCache::bytes() const { return (numel(keys_) + numel(values_)) * index_t{sizeof(real)}; }

/// Doubles the capacity until it holds `positions`.
void KVCache::reserve(index_t positions) {
  if (positions <= capacity_) return;
  index_t capacity = capacity_;
  while (capacity < positions) capacity = std::min(2 * capacity, options_.limit);
  for (const auto& [rows, width] : {std::pair(&keys_, options_.width), {&values_, options_.value_width}}) {
    Array larger = rows_array(capacity, width);
    const index_t old_size = capacity_ * cached_row_width(width), new_size = capacity * cached_row_width(width);
    for (index_t head = 0; head < options_.batch * options_.key_heads; ++head)
      std::copy_n(rows->data() + head * old_size, old_size, larger.data() + head * new_size);
    *rows = std::move(larger);
  }
  capacity_ = capacity;
}

void KVCache::append(const Tensor& k, const Tensor& v, const IndexArray& lengths) {
  const auto& o = options_;
  if (k.rank() != 4) throw ShapeError(kOp, "k [B, H', T, D]", k.shape());
  const index_t time = k.size(2);
  check_shape(kOp, "k", k.shape(), Shape{o.batch, o.key_heads, time, o.width});
  check_shape(kOp, "v", v.shape(), Shape{o.batch, o.key_heads, time, o.value_width});
  const IndexArray added = chunk_lengths(lengths, o.batch, time);
  index_t longest = 0;
  for (std::size_t b = 0; b < added.size(); ++b) longest = std::max(longest, lengths_.data()[b] + added.data()[b]);
  if (longest > o.limit) throw ValueError(kOp, "at most " + std::to_string(o.limit) + " positions", longest);
  reserve(longest);
  for (const auto& [from, rows, width] :
       {std::tuple(k.data(), keys_.data(), o.width), std::tuple(v.data(), values_.data(), o.value_width)}) {
    const index_t padded = cached_row_width(width);
    for (index_t head = 0; head < o.batch * o.key_heads; ++head)
      for (index_t t = 0; t < added.data()[head / o.key_heads]; ++t)
        std::copy_n(from + (head * time + t) * width, width,
                    rows + (head * capacity_ + lengths_.data()[head / o.key_heads] + t) * padded);
  }
  for (std::size_t b = 0; b < added.size(); ++b) lengths_.data()[b] += added.data()[b];
}

void KVCache::select(const IndexArray& rows) {
  select_rows(lengths_, rows);  // checks `rows` before anything changes
  select_rows(keys_, rows);
  select_rows(values_, rows);
}

LinearAttentionCache::LinearAttentionCache(index_t batch, index_t key_heads, index_t features, index_t value_width) {
  if (batch < 1 || key_heads < 1 || features < 1 || value_width < 1)
    throw ValueError(kOp, "sizes of at least 1", batch, key_heads, features, value_width);
  state = linear_state(batch, key_heads, features, value_width);
  lengths_ = full_array<IndexArray>({batch}, 0);
}

Mask LinearAttentionCache::advance(index_t time, const IndexArray& lengths) {
  const index_t batch = numel(lengths_);
  const IndexArray added = chunk_lengths(lengths, batch, time);
  for (index_t b = 0; b < batch; ++b) lengths_.data()[b] += added.data()[b];
  if (!is_given(lengths)) return {};
  Mask padding = empty_array<Mask>({batch, time});
  for (index_t b = 0; b < batch; ++b)
    for (index_t t = 0; t < time; ++t) padding.data()[b * time + t] = t >= added.data()[b];
  return padding;
}

void LinearAttentionCache::select(const IndexArray& rows) {
  select_rows(lengths_, rows);
  select_rows(state, rows);
}

const IndexArray& AttentionCache::lengths() const {
  return std::visit([](const auto& cache) -> const IndexArray& { return cache.lengths(); }, cache_);
}

index_t AttentionCache::bytes() const {
  return std::visit([](const auto& cache) { return cache.bytes(); }, cache_);
}

void AttentionCache::select(const IndexArray& rows) {
  std::visit([&](auto& cache) { cache.select(rows); }, cache_);
}

}  // namespace xtape::inline XTAPE_DTYPE

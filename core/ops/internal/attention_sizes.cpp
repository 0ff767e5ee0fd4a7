#include <xtape/core/ops/internal/attention_sizes.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr const char* kKeys = "q [B, H, T, D] and k [B, H', S, D] with H a multiple of H'";
constexpr const char* kValues = "q [B, H, T, D], k [B, H', S, D] and v [B, H', S, V] with H a multiple of H'";

bool keys_fit(const Shape& q, const Shape& k) {
  return q.rank() == 4 && k.rank() == 4 && k[0] == q[0] && k[3] == q[3] && k[1] > 0 && q[1] % k[1] == 0;
}

bool values_fit(const Shape& k, const Shape& v) {
  return v.rank() == 4 && std::equal(k.begin(), k.begin() + 3, v.begin());
}

AttentionSizes sizes_of(const Shape& q, const Shape& k, index_t value_width) {
  return {q[0], q[1], k[1], q[2], k[2], q[3], value_width};
}

}  // namespace

AttentionSizes attention_sizes(const char* op, const Shape& q, const Shape& k, const Shape& v) {
  if (!keys_fit(q, k) || !values_fit(k, v)) throw ShapeError(op, kValues, q, k, v);
  return sizes_of(q, k, v[3]);
}

AttentionSizes attention_sizes(const char* op, const Shape& q, const Shape& k) {
  if (!keys_fit(q, k)) throw ShapeError(op, kKeys, q, k);
  return sizes_of(q, k, 0);
}

void check_masks(const char* op, const AttentionSizes& sizes, const Mask& key_padding, const Mask& mask) {
  if (is_given(key_padding)) check_shape(op, "key_padding", key_padding.shape(), Shape{sizes.batches, sizes.keys});
  if (!is_given(mask)) return;
  const Shape flat = Shape{sizes.queries, sizes.keys}, full = Shape{sizes.batches, sizes.queries, sizes.keys};
  if (mask.shape() != flat && mask.shape() != full)
    throw ShapeError(op, "a mask of shape " + shape_text(flat) + " or " + shape_text(full), mask.shape());
}

}  // namespace xtape::inline XTAPE_DTYPE

// The checks of operands and masks that all kinds of attention share. Not part of the public interface.
#pragma once

#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Of q [B, H, T, D], k [B, H', S, D] and v [B, H', S, V]: B, H, H', T, S, D, V.
struct AttentionSizes {
  index_t batches, heads, key_heads, queries, keys, width, value_width;

  /// Sets the members of these names in the problem of a kernel. Its members for D and S may have other names.
  template <class Problem>
  void set(Problem& p, index_t Problem::* width_of, index_t Problem::* keys_of = &Problem::keys) const {
    p.batches = batches;
    p.heads = heads;
    p.key_heads = key_heads;
    p.queries = queries;
    p.*keys_of = keys;
    p.*width_of = width;
    p.value_width = value_width;
  }
};

/// Checks that the shapes fit together and that H is a multiple of H'. Throws ShapeError.
AttentionSizes attention_sizes(const char* op, const Shape& q, const Shape& k, const Shape& v);
/// The same without values; value_width is 0.
AttentionSizes attention_sizes(const char* op, const Shape& q, const Shape& k);

/// Checks key_padding [B, S] and mask [T, S] or [B, T, S], each if it is given. Throws ShapeError.
void check_masks(const char* op, const AttentionSizes& sizes, const Mask& key_padding, const Mask& mask = {});

/// The elements of a mask that was checked, or null if it is not given.
inline const bool* data_or_null(const Mask& mask) { return mask.dimension() ? mask.data() : nullptr; }

}  // namespace xtape::inline XTAPE_DTYPE

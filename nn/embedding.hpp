// Embedding layer: one learned vector for each id.
#pragma once

#include <xtape/core/ops/indexing.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct EmbeddingOptions {
  index_t padding = kNoPaddingIndex;  ///< id whose row starts at zero and gets no gradient; default: none
  Init init = {};                     ///< default: standard normal, as in PyTorch
};

/// Looks up the row of each id: ids [...] -> [..., width]. Parameter: weight [count, width].
class Embedding {
 public:
  /// Throws ValueError if a size is less than 1 or the padding id is outside 0..count-1.
  Embedding(const Scope& scope, index_t count, index_t width, const EmbeddingOptions& options = {});
  Embedding(Embedding&&) = default;
  Embedding(const Embedding&) = delete;

  /// Throws IndexError for an id outside 0..count-1.
  Tensor operator()(const IndexArray& ids) const;

  Parameter weight;

 private:
  std::string layer_;
  index_t padding_;
};

}  // namespace xtape::inline XTAPE_DTYPE

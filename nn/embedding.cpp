#include <xtape/core/error.hpp>
#include <xtape/nn/embedding.hpp>
#include <xtape/nn/init.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

Embedding::Embedding(const Scope& scope, index_t count, index_t width, const EmbeddingOptions& options)
    : layer_(scope.name_or("embedding")), padding_(options.padding) {
  if (count < 1 || width < 1) throw ValueError("embedding " + scope.name(), "sizes of at least 1", count, width);
  if (padding_ != kNoPaddingIndex && (padding_ < 0 || padding_ >= count))
    throw ValueError("embedding " + scope.name(), "a padding row in 0.." + std::to_string(count - 1), padding_);
  const Init init = options.init ? options.init : init::normal(0, 1);
  weight = scope.parameter("weight", {count, width}, [&](Array& value, Random& random) {
    init(value, random);
    if (padding_ != kNoPaddingIndex) std::fill_n(value.data() + padding_ * width, width, real(0));
  });
}

Tensor Embedding::operator()(const IndexArray& ids) const {
  const LayerScope here(layer_);
  here.input(ids);
  return here.output(embedding(weight, ids, padding_));
}

}  // namespace xtape::inline XTAPE_DTYPE

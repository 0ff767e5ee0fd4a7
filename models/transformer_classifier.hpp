// Transformer encoder that classifies a sequence.
#pragma once

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// What stands for the whole sequence.
enum class Pooling {
  mean,   ///< the mean over the positions that are not padding
  first,  ///< the first position
};

struct TransformerClassifierConfig {
  index_t vocab;
  index_t classes;
  index_t context = 64;  ///< the longest sequence
  index_t width = 128;
  index_t heads = 4;
  index_t layers = 2;
  AttentionConfig attention = {};
  index_t hidden = 0;  ///< of the blocks' inner networks; 0 means 4 width
  double dropout = 0;  ///< of embeddings, attention, residual branches and of what is pooled
  Pooling pooling = Pooling::mean;
};

/// ids [B, T] -> logits [B, classes]. Padding is hidden from attention and left out of the mean; a sequence that is all
/// padding is classified by the bias of the output layer. Pre-norm blocks over embeddings plus sinusoids. Parameters:
/// embedding.weight, layers.N.* (see TransformerBlock), norm.*, head.*.
class TransformerClassifier {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  TransformerClassifier(const Scope& scope, const TransformerClassifierConfig& config);

  /// `padding` [B, T], true: hidden; or empty. Throws ShapeError, or IndexError for an id.
  Tensor operator()(const IndexArray& ids, const Mask& padding = {}) const;

  const TransformerClassifierConfig& config() const { return config_; }

 private:
  Tensor pooled(const Tensor& x, const Mask& padding) const;

  TransformerClassifierConfig config_;
  Embedding embedding_;
  Array sinusoids_;  // [context, width]
  Dropout dropout_;
  std::vector<TransformerBlock> layers_;
  LayerNorm norm_;
  Dropout head_dropout_;
  Linear head_;
};

}  // namespace xtape::inline XTAPE_DTYPE

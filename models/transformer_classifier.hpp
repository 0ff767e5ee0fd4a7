// Transformer encoder that classifies a sequence.
#pragma once

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// How the outputs of all positions become one vector.
enum class Pooling {
  mean,   ///< mean over the positions that are not padding
  first,  ///< the first position
};

struct TransformerClassifierConfig {
  index_t vocab;
  index_t classes;
  index_t context = 64;  ///< longest sequence
  index_t width = 128;   ///< C
  index_t heads = 4;
  index_t layers = 2;
  AttentionConfig attention = {};
  index_t hidden = 0;  ///< width of the feedforward network of each block; 0 means 4 C
  /// probability for embeddings, attention weights, residual branches and the pooled vector, in training mode
  double dropout = 0;
  Pooling pooling = Pooling::mean;
};

/// Maps ids [B, T] to logits [B, classes]: pre-norm blocks over embeddings plus sinusoidal position encodings, then
/// pooling and a linear layer. Padding is masked in attention and excluded from the mean; its embeddings touch no
/// value and no gradient, whatever they are. The logits of a sequence that is all padding are the bias of the
/// output layer. Parameters: embedding.weight, layers.N.* (see TransformerBlock), norm.*, head.*.
class TransformerClassifier {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  TransformerClassifier(const Scope& scope, const TransformerClassifierConfig& config);

  /// `padding` [B, T] (true: padding) or empty. Throws ShapeError, or IndexError for an id outside the vocabulary.
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

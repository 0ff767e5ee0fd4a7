// Decoder-only transformer language model.
#pragma once

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Position encodings: learned and sinusoidal are added to the embeddings, rotary and alibi act inside attention.
enum class Positions { learned, sinusoidal, rotary, alibi };

/// The positions of this name. Throws ValueError for another name.
Positions parse_positions(std::string_view name);

enum class WeightInit { gpt2, xavier, he, torch };  ///< torch: the default of each layer, as in PyTorch

struct TransformerLMConfig {
  index_t vocab;
  index_t context = 64;  ///< longest sequence
  index_t width = 128;   ///< C
  index_t heads = 4;
  index_t layers = 4;
  index_t hidden = 0;              ///< width of the feedforward network of each block; 0 means 4 C
  AttentionConfig attention = {};  ///< its field `positions` is ignored in favor of the one below
  double dropout = 0;  ///< probability for embeddings, attention weights and residual branches, in training mode
  Positions positions = Positions::learned;
  bool tied_head = false;              ///< the output layer uses the weights of the token embedding
  bool bias = true;                    ///< biases of attention and linear layers
  bool norm_bias = true;               ///< biases of layer norms
  std::optional<bool> head_bias = {};  ///< bias of the output layer; default: as `bias`
  WeightInit init = WeightInit::gpt2;
};

/// Caches of all layers, for incremental decoding.
class TransformerCache {
 public:
  explicit TransformerCache(std::vector<AttentionCache> layers_of_model) : layers(std::move(layers_of_model)) {}

  const IndexArray& lengths() const { return layers.front().lengths(); }  ///< number of positions of each sequence, [B]
  index_t bytes() const;                                                  ///< allocated memory
  void select(const IndexArray& rows);  ///< makes sequence b a copy of sequence rows[b]

  std::vector<AttentionCache> layers;
};

/// Maps ids [B, T] to the logits [B, T, vocab] of the tokens that follow; position t depends on positions up to t.
/// Pre-norm blocks with exact GELU and a final layer norm, after GPT-2 (Radford et al. 2019). Parameters:
/// token_embedding.weight, position_embedding.weight, layers.N.* (see TransformerBlock), norm.*, head.*.
class TransformerLM {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  TransformerLM(const Scope& scope, const TransformerLMConfig& config);

  /// Throws ShapeError if T exceeds the context, IndexError for an id outside the vocabulary.
  Tensor operator()(const IndexArray& ids) const;

  /// The attention weights of all layers and heads for one sequence: ids [T] -> [layers, heads, T, T], where rows are
  /// queries. No gradient tracking. Call store.eval() first if the model has dropout. Throws as the call, and
  /// ShapeError for T = 0.
  Array attention_weights(const IndexArray& ids) const;

  /// Empty caches for `batch` sequences of at most `context` positions.
  TransformerCache cache(index_t batch) const;
  /// The logits [B, T, vocab] after the next tokens ids [B, T], which are appended to the cache. `lengths` [B] says how
  /// many of the T tokens are unpadded in each sequence (empty: all); output rows of padded tokens are unspecified. The
  /// result equals that of the call over whole sequences, whatever the chunk sizes. Call store.eval() first if the
  /// model has dropout. Throws ShapeError, IndexError for an id or a length, ValueError beyond the context,
  /// UnsupportedError under a tape that would record the step.
  Tensor step(const IndexArray& ids, TransformerCache& cache, const IndexArray& lengths = {}) const;

  /// Draws new random features for rff and prf in every layer.
  void redraw_features();

  const TransformerLMConfig& config() const { return config_; }

 private:
  Tensor position_rows(const IndexArray& positions) const;
  Tensor embedded(const IndexArray& ids) const;
  Tensor logits(const Tensor& x) const;

  TransformerLMConfig config_;
  Embedding token_embedding_;
  std::optional<Embedding> position_embedding_;
  Array sinusoids_;  // [context, width]; empty unless the positions are sinusoidal
  Dropout dropout_;
  std::vector<TransformerBlock> layers_;
  LayerNorm norm_;
  std::optional<Linear> head_;  // empty if the head is tied
  Parameter head_bias_;         // of a tied head
};

}  // namespace xtape::inline XTAPE_DTYPE

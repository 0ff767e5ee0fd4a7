// Decoder-only transformer language model.
#pragma once

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Added to the embeddings (learned, sinusoidal), or known to attention alone (rotary, alibi).
enum class Positions { learned, sinusoidal, rotary, alibi };

/// The positions of that name. Throws ValueError for another name.
Positions parse_positions(std::string_view name);

enum class WeightInit { gpt2, xavier, he, torch };  ///< torch: each layer's default as in PyTorch

struct TransformerLMConfig {
  index_t vocab;
  index_t context = 64;  ///< the longest sequence
  index_t width = 128;
  index_t heads = 4;
  index_t layers = 4;
  index_t hidden = 0;              ///< of each block's inner network; 0 means 4 width
  AttentionConfig attention = {};  ///< its positions are set by `positions`
  double dropout = 0;
  Positions positions = Positions::learned;
  bool tied_head = false;              ///< the output layer uses the embedding's weights
  bool bias = true;                    ///< in attention and linear layers
  bool norm_bias = true;               ///< in layer norms
  std::optional<bool> head_bias = {};  ///< in the output layer; default: as `bias`
  WeightInit init = WeightInit::gpt2;
};

/// Caches of all layers, for incremental decoding.
class TransformerCache {
 public:
  explicit TransformerCache(std::vector<AttentionCache> layers_of_model) : layers(std::move(layers_of_model)) {}

  const IndexArray& lengths() const { return layers.front().lengths(); }  ///< positions of each sequence, [B]
  index_t bytes() const;                                                  ///< allocated
  void select(const IndexArray& rows);  ///< sequence b becomes a copy of sequence rows[b]

  std::vector<AttentionCache> layers;
};

/// ids [B, T] -> logits [B, T, vocab]; position t sees positions up to t. Pre-norm blocks with exact GELU and a last
/// layer norm, after GPT-2 (Radford et al. 2019). Parameters: token_embedding.weight, position_embedding.weight,
/// layers.N.* (see TransformerBlock), norm.*, head.*.
class TransformerLM {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  TransformerLM(const Scope& scope, const TransformerLMConfig& config);

  /// Throws ShapeError if T exceeds the context, IndexError for an id outside the vocabulary.
  Tensor operator()(const IndexArray& ids) const;

  /// By which weights each layer's heads mix the positions of one sequence, ids [T] -> [layers, heads, T, T]: rows are
  /// queries. Not recorded. Call store.eval() first if the model has dropout. Throws as the call, for a T of 0 too.
  Array attention_weights(const IndexArray& ids) const;

  /// Empty caches for `batch` sequences of at most `context` positions.
  TransformerCache cache(index_t batch) const;
  /// Logits [B, T, vocab] after the next tokens ids [B, T], of which lengths[b] (empty: all) are real, given those in
  /// the cache, to which they are added. Equals the call over whole sequences, in whatever chunks they come; rows past
  /// a length hold anything. Call store.eval() first if the model has dropout. Throws ShapeError, IndexError,
  /// ValueError beyond the context, UnsupportedError where a tape would record it.
  Tensor step(const IndexArray& ids, TransformerCache& cache, const IndexArray& lengths = {}) const;

  /// Draws the random features of rff and prf anew in every layer.
  void redraw_features();

  const TransformerLMConfig& config() const { return config_; }

 private:
  Tensor position_rows(const IndexArray& positions) const;
  Tensor embedded(const IndexArray& ids) const;
  Tensor logits(const Tensor& x) const;

  TransformerLMConfig config_;
  Embedding token_embedding_;
  std::optional<Embedding> position_embedding_;
  Array sinusoids_;  // [context, width], empty unless sinusoidal
  Dropout dropout_;
  std::vector<TransformerBlock> layers_;
  LayerNorm norm_;
  std::optional<Linear> head_;  // empty if tied
  Parameter head_bias_;         // of a tied head
};

}  // namespace xtape::inline XTAPE_DTYPE

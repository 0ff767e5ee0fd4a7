// Decoder-only transformer language model.
#pragma once

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <optional>
#include <vector>

namespace xtape::inline XTAPE_FLAVOUR {

enum class Positions { learned, sinusoidal };
enum class WeightInit { gpt2, xavier, he, torch };  ///< torch: each layer's default as in PyTorch

struct TransformerConfig {
  index_t vocab;
  index_t context = 64;  ///< the longest sequence
  index_t width = 128;
  index_t heads = 4;
  index_t layers = 4;
  index_t hidden = 0;  ///< of each block's inner network; 0 means 4 width
  double dropout = 0;
  Positions positions = Positions::learned;
  bool tied_head = false;              ///< the output layer uses the embedding's weights
  bool bias = true;                    ///< in attention and linear layers
  bool norm_bias = true;               ///< in layer norms
  std::optional<bool> head_bias = {};  ///< in the output layer; default: as `bias`
  WeightInit init = WeightInit::gpt2;
};

/// ids [B, T] -> logits [B, T, vocab]; position t sees positions up to t. Pre-norm blocks with exact GELU and a last
/// layer norm, after GPT-2 (Radford et al. 2019). Parameters: token_embedding.weight, position_embedding.weight,
/// layers.N.* (see TransformerBlock), norm.*, head.*.
class TransformerLM {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  TransformerLM(const Scope& scope, const TransformerConfig& config);

  /// Throws ShapeError if T exceeds the context, IndexError for an id outside the vocabulary.
  Tensor operator()(const IndexArray& ids) const;

  const TransformerConfig& config() const { return config_; }

 private:
  TransformerConfig config_;
  Embedding token_embedding_;
  std::optional<Embedding> position_embedding_;
  Array sinusoids_;  // [context, width], empty for learned positions
  Dropout dropout_;
  std::vector<TransformerBlock> layers_;
  LayerNorm norm_;
  std::optional<Linear> head_;  // empty if tied
  Parameter head_bias_;         // of a tied head
};

}  // namespace xtape::inline XTAPE_FLAVOUR

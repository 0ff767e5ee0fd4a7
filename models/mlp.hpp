// Multi-layer perceptron: the plain network on vectors.
#pragma once

#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/dropout.hpp>
#include <xtape/nn/layer_norm.hpp>
#include <xtape/nn/linear.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_FLAVOUR {

enum class MlpNorm { none, batch, layer };

/// The norm of that name. Throws ValueError for another name.
MlpNorm mlp_norm(std::string_view name);

struct MLPConfig {
  index_t in;
  index_t out;
  index_t hidden = 128;
  index_t layers = 2;  ///< hidden layers
  MlpNorm norm = MlpNorm::none;
  double dropout = 0;  ///< after each hidden layer, in training
};

/// x [..., in] -> [..., out], for batch norm [B, in]: hidden layers dropout(relu(norm(W x + b))), then a linear one.
/// Parameters: layers.N.linear.*, layers.N.norm.*, head.*.
class MLP {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout no probability.
  MLP(const Scope& scope, const MLPConfig& config);

  /// Throws ShapeError if x does not fit.
  Tensor operator()(Tensor x) const;

 private:
  struct Hidden {
    Linear linear;
    std::optional<BatchNorm> batch_norm;
    std::optional<LayerNorm> layer_norm;
    Dropout dropout;
  };

  static std::vector<Hidden> hidden_layers(const Scope& scope, const MLPConfig& config);

  std::vector<Hidden> hidden_;
  Linear head_;
};

}  // namespace xtape::inline XTAPE_FLAVOUR

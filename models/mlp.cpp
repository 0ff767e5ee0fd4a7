#include <xtape/core/error.hpp>
#include <xtape/core/ops/activation.hpp>
#include <xtape/models/mlp.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

MlpNorm mlp_norm(std::string_view name) {
  if (name == "none") return MlpNorm::none;
  if (name == "batch") return MlpNorm::batch;
  if (name == "layer") return MlpNorm::layer;
  throw ValueError("mlp", "there is no norm '" + std::string(name) + "' but none, batch and layer");
}

std::vector<MLP::Hidden> MLP::hidden_layers(const Scope& scope, const MLPConfig& config) {
  if (config.layers < 1) throw ValueError("mlp", "there must be at least 1 hidden layer");
  std::vector<Hidden> out;
  for (index_t i = 0; i < config.layers; ++i) {
    const Scope here = scope / "layers" / i;
    Hidden layer{Linear(here / "linear", i == 0 ? config.in : config.hidden, config.hidden),
                 {},
                 {},
                 Dropout(here / "dropout", config.dropout)};
    if (config.norm == MlpNorm::batch) layer.batch_norm.emplace(here / "norm", config.hidden);
    if (config.norm == MlpNorm::layer) layer.layer_norm.emplace(here / "norm", config.hidden);
    out.push_back(std::move(layer));
  }
  return out;
}

MLP::MLP(const Scope& scope, const MLPConfig& config)
    : hidden_(hidden_layers(scope, config)), head_(scope / "head", config.hidden, config.out) {}

Tensor MLP::operator()(Tensor x) const {
  for (const Hidden& layer : hidden_) {
    x = layer.linear(x);
    if (layer.batch_norm) x = (*layer.batch_norm)(x);
    if (layer.layer_norm) x = (*layer.layer_norm)(x);
    x = layer.dropout(relu(x));
  }
  return head_(x);
}

}  // namespace xtape::inline XTAPE_FLAVOUR

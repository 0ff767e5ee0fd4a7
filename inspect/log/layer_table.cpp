#include <xtape/core/number_text.hpp>
#include <xtape/inspect/log/layer_table.hpp>
#include <xtape/inspect/run/layer_names.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

constexpr std::size_t kTableLayers = 32;

std::string column(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

}  // namespace

LayerTable::LayerTable(const std::vector<std::string>& parameters, const std::vector<index_t>& elements) {
  const std::vector<std::string> names = layer_names(parameters, kTableLayers);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& l) { return l.name == names[i]; });
    layer_of_.push_back(static_cast<std::size_t>(known - layers_.begin()));
    if (known == layers_.end()) layers_.push_back({.name = names[i]});
    layers_[layer_of_.back()].elements += elements[i];
  }
}

void LayerTable::add(const std::vector<double>& parameter_norms) {
  for (Layer& layer : layers_) layer.norms.push_back(0);
  for (std::size_t i = 0; i < layer_of_.size(); ++i) {
    double& norm = layers_[layer_of_[i]].norms.back();
    norm = std::hypot(norm, parameter_norms[i]);
  }
}

std::string LayerTable::text() const {
  if (layers_.empty() || layers_.front().norms.empty()) return "";
  std::size_t width = 5;
  for (const Layer& layer : layers_) width = std::max(width, layer.name.size());
  const auto line = [&](const std::string& name, const std::vector<std::string>& columns) {
    std::string out = name + std::string(width - name.size(), ' ');
    for (const std::string& text : columns) out += column(text, 12);
    return out + "\n";
  };
  std::string out = "Gradient norms before clipping\n" + line("layer", {"elements", "first", "median", "last"});
  for (const Layer& layer : layers_)
    out += line(layer.name, {std::to_string(layer.elements), number_text(layer.norms.front(), "%.4g"),
                             number_text(median(layer.norms), "%.4g"), number_text(layer.norms.back(), "%.4g")});
  return out;
}

}  // namespace xtape

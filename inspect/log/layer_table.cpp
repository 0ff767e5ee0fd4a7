#include <xtape/core/error.hpp>
#include <xtape/inspect/log/layer_table.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace xtape {

namespace {

constexpr std::size_t kTableLayers = 32;

std::size_t parts(const std::string& name) {
  return 1 + static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
}

/// The first `count` dotted parts.
std::string cut(const std::string& name, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end != name.npos; --count) end = name.find('.', end == 0 ? 0 : end + 1);
  return name.substr(0, end);
}

std::string column(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

}  // namespace

std::vector<std::string> layer_names(const std::vector<std::string>& parameters, std::size_t most) {
  std::size_t depth = 1;
  for (const std::string& name : parameters) depth = std::max(depth, parts(name));
  std::vector<std::string> layers = parameters;
  while (depth > 1 && std::set(layers.begin(), layers.end()).size() > most) {
    --depth;
    for (std::string& name : layers) name = cut(name, depth);
  }
  return layers;
}

double median(std::vector<double> values) {
  if (values.empty()) throw ValueError("median", "there are no values");
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });  // a NaN is never below
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

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
  std::vector<double> squares(layers_.size());
  for (std::size_t i = 0; i < layer_of_.size(); ++i) squares[layer_of_[i]] += parameter_norms[i] * parameter_norms[i];
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].norms.push_back(std::sqrt(squares[i]));
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

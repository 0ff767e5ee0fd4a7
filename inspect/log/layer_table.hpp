// The table of layers at the end of a run: how the gradient norms went.
#pragma once

#include <xtape/core/config.hpp>

#include <string>
#include <vector>

namespace xtape {

class LayerTable {
 public:
  /// Parameter names with their numbers of elements.
  LayerTable(const std::vector<std::string>& parameters, const std::vector<index_t>& elements);

  /// The gradient norms of one logged step, one for each parameter; a layer's is that of its parameters joined.
  void add(const std::vector<double>& parameter_norms);

  /// One line a layer: name, elements, first, median and last norm. "" before the first `add`.
  std::string text() const;

 private:
  struct Layer {
    std::string name;
    index_t elements = 0;
    std::vector<double> norms = {};
  };

  std::vector<Layer> layers_;
  std::vector<std::size_t> layer_of_;  // by parameter
};

}  // namespace xtape

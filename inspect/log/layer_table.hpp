// LayerTable: the gradient norm of each layer at the first, median and last logged step, printed at the end of a run.
#pragma once

#include <xtape/core/config.hpp>

#include <string>
#include <vector>

namespace xtape {

class LayerTable {
 public:
  /// Parameter names and their numbers of elements.
  LayerTable(const std::vector<std::string>& parameters, const std::vector<index_t>& elements);

  /// Adds the gradient norms of one logged step, one for each parameter. A layer's norm is the joint norm of its
  /// parameters.
  void add(const std::vector<double>& parameter_norms);

  /// One line for each layer: name, elements, first, median and last norm. "" before the first `add`.
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

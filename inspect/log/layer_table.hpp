// The table of layers at the end of a run: how the gradient norms went.
#pragma once

#include <xtape/core/config.hpp>

#include <string>
#include <vector>

namespace xtape {

/// For each dotted parameter name the layer that it is counted to: the name itself while there are at most `most` of
/// them, else all names cut to the same number of parts, the greatest that leaves at most `most` layers.
std::vector<std::string> layer_names(const std::vector<std::string>& parameters, std::size_t most);

/// The value in the middle of the sorted values, or the mean of the two there; NaN counts as the largest. Throws
/// ValueError if there are none.
double median(std::vector<double> values);

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

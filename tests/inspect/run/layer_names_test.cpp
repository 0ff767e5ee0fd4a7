#include <xtape/inspect/run/layer_names.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("parameters are grouped by their names, no more than needed") {
  const std::vector<std::string> names = {"a.weight", "a.bias", "layers.0.x.weight", "layers.0.y.weight",
                                          "layers.1.x.weight"};
  CHECK(layer_names(names, 5) == names);
  CHECK(layer_names(names, 4) == std::vector<std::string>{"a.weight", "a.bias", "layers.0", "layers.0", "layers.1"});
  CHECK(layer_names(names, 3) == std::vector<std::string>{"a", "a", "layers", "layers", "layers"});
  CHECK(layer_names(names, 1) == std::vector<std::string>{"a", "a", "layers", "layers", "layers"});
  CHECK(layer_names({}, 1).empty());
}

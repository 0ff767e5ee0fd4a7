#include <xtape/inspect/run/layer_names.hpp>

#include <algorithm>
#include <set>

namespace xtape {

namespace {

std::size_t part_count(const std::string& name) {
  return 1 + static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
}

/// The first `count` dotted parts.
std::string first_parts(const std::string& name, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end != name.npos; --count) end = name.find('.', end == 0 ? 0 : end + 1);
  return name.substr(0, end);
}

}  // namespace

std::vector<std::string> layer_names(const std::vector<std::string>& parameters, std::size_t most) {
  std::size_t depth = 1;
  for (const std::string& name : parameters) depth = std::max(depth, part_count(name));
  std::vector<std::string> layers = parameters;
  while (depth > 1 && std::set(layers.begin(), layers.end()).size() > most) {
    --depth;
    for (std::string& name : layers) name = first_parts(name, depth);
  }
  return layers;
}

}  // namespace xtape

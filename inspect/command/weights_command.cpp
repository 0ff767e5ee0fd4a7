#include <xtape/data/safetensors_listing.hpp>
#include <xtape/inspect/command/weights_command.hpp>

#include <iostream>

namespace xtape {

int list_weights(const std::string& path) {
  std::cout << safetensors_listing(path);
  return 0;
}

}  // namespace xtape

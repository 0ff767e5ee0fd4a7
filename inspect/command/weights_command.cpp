#include <xtape/data/weights_listing.hpp>
#include <xtape/inspect/command/weights_command.hpp>

#include <iostream>

namespace xtape {

int list_weights(const std::string& path) {
  std::cout << weights_listing(path);
  return 0;
}

}  // namespace xtape

// IDX files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xtape::test {

/// A file of a type and shape with elements that lie in it as they are given.
inline std::string idx_file(unsigned char type, const std::vector<std::uint32_t>& shape, const std::string& elements) {
  std::string out = {0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out + elements;
}

}  // namespace xtape::test

// IDX files, compressed or not, read as images and as arrays.
#include "fuzz.hpp"

#include <xtape/data/gzip.hpp>
#include <xtape/data/idx.hpp>

#include <vector>

namespace xtape::fuzz {

// Bytes become doubles. A compressed file may expand to 100 times its size, or to 1 MiB.
std::size_t largest_allocation(std::string_view input) {
  const std::size_t unpacked = is_gzip(input) ? (1 << 20) + 100 * input.size() : input.size();
  return (64 << 10) + 8 * unpacked;
}

void try_input(std::string_view input) {
  const IdxFile file(std::string(is_gzip(input) ? unpack_gzip(input, "input") : input), "input");
  std::vector<double> values(file.tensor().size());
  read_values(file.tensor(), values.data());
}

}  // namespace xtape::fuzz

// NumPy arrays: reads them and converts them to numbers.
#include "fuzz.hpp"

#include <xtape/data/npy.hpp>

#include <vector>

namespace xtape::fuzz {

std::size_t largest_allocation(std::string_view input) { return (64 << 10) + 16 * input.size(); }

void try_input(std::string_view input) {
  const MemoryFile memory(input);
  const NpyFile file(memory.path());
  const StoredTensor& tensor = file.tensor();
  if (tensor.bytes.size() > input.size()) fault("the elements are larger than the file");
  std::vector<double> values(tensor.size());
  read_values(tensor, values.data());
}

}  // namespace xtape::fuzz

// Safetensors files: reads them and converts every tensor to numbers.
#include "fuzz.hpp"

#include <xtape/data/safetensors.hpp>

namespace xtape::fuzz {

// The header becomes JSON values in memory, each larger than its text. Numbers become doubles.
std::size_t largest_allocation(std::string_view input) { return (64 << 10) + 32 * input.size(); }

void try_input(std::string_view input) {
  const MemoryFile memory(input);
  const SafetensorsFile file(memory.path());
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : file.tensors()) {
    bytes += tensor.bytes.size();
    std::vector<double> values(tensor.size());
    read_values(tensor, values.data());
    if (file.find(tensor.name) == nullptr) fault("a tensor cannot be found by its name");
  }
  if (bytes > input.size()) fault("the tensors are larger than the file");
}

}  // namespace xtape::fuzz

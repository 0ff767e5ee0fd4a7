// Checkpoints: safetensors files whose metadata hold the record of a run.
#include "fuzz.hpp"

#include <xtape/data/safetensors.hpp>
#include <xtape/train/checkpoint_record.hpp>

namespace xtape::fuzz {

std::size_t largest_allocation(std::string_view input) { return (64 << 10) + 64 * input.size(); }

void try_input(std::string_view input) {
  if (input.empty()) return;
  if ((input.front() & 1) == 0) {  // the record alone, because in a whole file a checksum guards it
    const CheckpointRecord record = read_checkpoint_json("input", std::string(input.substr(1)));
    const CheckpointRecord again = read_checkpoint_json("input", checkpoint_json(record));
    if (again.step != record.step || again.tensors != record.tensors)
      fault("a written record is read back differently");
    return;
  }
  const MemoryFile memory(input.substr(1));
  const SafetensorsFile file(memory.path());
  const auto found = file.metadata().find(kCheckpointKey);
  if (found != file.metadata().end()) read_checkpoint_json("input", found->second);
}

}  // namespace xtape::fuzz

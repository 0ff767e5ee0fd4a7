// Random shapes and axes for every op: expects the correct result if PyTorch accepts them, else a typed error.
#include "fuzz.hpp"

#include "fuzz/ops/check.hpp"

#include <xtape/core/threads.hpp>

namespace xtape::fuzz {

// No operand has more than a few thousand elements, and no result may need more memory than this.
std::size_t largest_allocation(std::string_view) { return 64 << 20; }

void try_input(std::string_view input) {
  [[maybe_unused]] static const int threads = (set_threads(1), 1);
  Choices choices(input);
  kFamilies[choices.below(std::size(kFamilies))](choices);
}

}  // namespace xtape::fuzz

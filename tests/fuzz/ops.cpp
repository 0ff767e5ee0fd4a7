// Random shapes and axes for every op: the right answer where PyTorch's rules have one, else a typed error.
#include "fuzz.hpp"

#include "ops/check.hpp"

#include <xtape/core/kernels/threads.hpp>

namespace xtape::fuzz {

// No operand has more than a few thousand elements; neither may what is made of them.
std::size_t largest_allocation(std::size_t) { return 64 << 20; }

void try_input(std::string_view input) {
  [[maybe_unused]] static const int threads = (set_threads(1), 1);
  Choices choices(input);
  static constexpr void (*kFamilies[])(Choices&) = {try_elementwise, try_reduction,  try_shape,   try_product,
                                                    try_selection,   try_normalized, try_sequence};
  kFamilies[choices.below(7)](choices);
}

}  // namespace xtape::fuzz

#include "cases.hpp"

namespace xtape::test {

GradCases rotary_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array heads = sample({2, 3, 4, 6}, 122);
  return {
      {"rotary", "", {heads}, [](Args a) { return rotary(a[0], {.offset = 3}); }},
      {"rotary",
       "an offset for each sequence",
       {heads},
       [](Args a) { return rotary(a[0], {.offsets = IndexArray{0, 5}, .base = 100}); }},
  };
}

}  // namespace xtape::test

#include "cases.hpp"

namespace xtape::test {

GradCases shape_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array cube = sample({2, 3, 4}, 31), flat = sample({2, 6}, 32), column = sample({3, 1}, 35);
  const Array columns = sample({2, 3, 10}, 121), heads = sample({2, 3, 4, 6}, 122);
  return {
      {"reshape", "", {flat}, [](Args x) { return reshape(x[0], {3, -1}); }},
      {"permute", "all axes", {cube}, [](Args x) { return permute(x[0], {2, 0, 1}); }},
      {"permute", "heads", {cube}, [](Args x) { return permute(x[0], {1, 0, 2}); }},
      {"permute", "transpose", {flat}, [](Args x) { return transpose(x[0]); }},
      {"slice", "middle axis", {cube}, [](Args x) { return slice(x[0], 1, 1, 3); }},
      {"slice", "with a step", {cube}, [](Args x) { return slice(x[0], -1, -4, kEnd, 2); }},
      {"reshape", "squeeze", {column}, [](Args x) { return squeeze(x[0]); }},
      {"reshape", "unsqueeze", {flat}, [](Args x) { return unsqueeze(x[0], 1); }},
      {"broadcast_to", "a column", {column}, [](Args x) { return broadcast_to(x[0], {2, 3, 4}); }},
      {"broadcast_to", "a row", {flat}, [](Args x) { return broadcast_to(x[0], {3, 2, 6}); }},
      {"flip", "all axes", {cube}, [](Args x) { return flip(x[0]); }},
      {"flip", "first and last", {cube}, [](Args x) { return flip(x[0], {0, -1}); }},
      {"split_heads", "inner columns", {columns}, [](Args x) { return split_heads(x[0], 2, 3, 2); }},
      {"join_heads", "", {heads}, [](Args x) { return join_heads(x[0]); }},
  };
}

}  // namespace xtape::test

#include "cases.hpp"

namespace xtape::test {

GradCases concat_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array cube = sample({2, 3, 4}, 31), other = sample({2, 2, 4}, 33), cube2 = sample({2, 3, 4}, 34);
  return {
      {"concat", "middle axis", {cube, other}, [](Args x) { return concat({x[0], x[1]}, 1); }},
      {"concat", "the same part twice", {cube, cube}, [](Args x) { return concat({x[0], x[1]}, -1); }},
      {"stack", "in front", {cube, cube2}, [](Args x) { return stack({x[0], x[1]}, 0); }},
      {"stack", "in the middle", {cube, cube2}, [](Args x) { return stack({x[0], x[1]}, 1); }},
      {"stack", "behind", {cube, cube2}, [](Args x) { return stack({x[0], x[1]}, -1); }},
      {"slice", "split, a part of two", {cube}, [](Args x) { return split(x[0], 2, 1)[1]; }},
      {"slice", "split, all parts", {cube}, [](Args x) { return concat(split_with_sizes(x[0], {1, 3}, 2), 2); }},
  };
}

}  // namespace xtape::test

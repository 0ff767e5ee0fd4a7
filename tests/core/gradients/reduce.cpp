#include "cases.hpp"

namespace xtape::test {

GradCases reduce_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 4}, 41), y = sample({2, 3, 4}, 111), z = sample({2, 3, 4}, 121);
  const Array wide_y = sample({2, 37}, 112), wide_z = sample({2, 37}, 122);
  return {
      {"sum", "all", {x}, [](Args a) { return sum(a[0]); }},
      {"sum", "first axis", {x}, [](Args a) { return sum(a[0], {0}); }},
      {"sum", "last axis, kept", {x}, [](Args a) { return sum(a[0], {-1}, true); }},
      {"sum", "first and last", {x}, [](Args a) { return sum(a[0], {0, 2}); }},
      {"mean", "all", {x}, [](Args a) { return mean(a[0]); }},
      {"mean", "middle axis", {x}, [](Args a) { return mean(a[0], {1}); }},
      {"cumsum", "middle axis", {x}, [](Args a) { return cumsum(a[0], 1); }},
      {"cumsum", "last axis", {x}, [](Args a) { return cumsum(a[0], -1); }},
      {"max", "all", {y}, [](Args a) { return max(a[0]); }},
      {"max", "first axis", {y}, [](Args a) { return max(a[0], {0}); }},
      {"max", "first and last, kept", {y}, [](Args a) { return max(a[0], {0, -1}, true); }},
      {"max", "wider than the lanes", {wide_y}, [](Args a) { return max(a[0], {1}); }},
      {"min", "last axis, kept", {y}, [](Args a) { return min(a[0], {-1}, true); }},
      {"min", "middle axis", {y}, [](Args a) { return min(a[0], {1}); }},
      {"min", "wider than the lanes", {wide_y}, [](Args a) { return min(a[0], {1}); }},
      {"var", "all", {z}, [](Args a) { return var(a[0]); }},
      {"var", "first axis", {z}, [](Args a) { return var(a[0], {0}); }},
      {"var", "first and last, kept, biased", {z}, [](Args a) { return var(a[0], {0, 2}, true, 0); }},
      {"var", "wider than the lanes", {wide_z}, [](Args a) { return var(a[0], {1}); }},
      {"stddev", "last axis", {z}, [](Args a) { return stddev(a[0], {-1}); }},
      {"stddev", "middle axis, biased", {z}, [](Args a) { return stddev(a[0], {1}, false, 0); }},
      {"norm", "all", {z}, [](Args a) { return norm(a[0]); }},
      {"norm", "last axis", {z}, [](Args a) { return norm(a[0], {2}); }},
      {"norm", "first two axes, kept", {z}, [](Args a) { return norm(a[0], {0, 1}, true); }},
  };
}

}  // namespace xtape::test

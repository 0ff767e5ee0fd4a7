#include "cases.hpp"

namespace xtape::test {

GradCases softmax_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 4}, 51, -2, 2), wide = sample({2, 37}, 52, -2, 2);
  return {
      {"softmax", "last axis", {x}, [](Args a) { return softmax(a[0]); }},
      {"softmax", "first axis", {x}, [](Args a) { return softmax(a[0], 0); }},
      {"softmax", "wider than the lanes", {wide}, [](Args a) { return softmax(a[0]); }},
      {"logsumexp", "all", {x}, [](Args a) { return logsumexp(a[0]); }},
      {"logsumexp", "last axis", {wide}, [](Args a) { return logsumexp(a[0], {-1}); }},
      {"logsumexp", "first two axes, kept", {x}, [](Args a) { return logsumexp(a[0], {0, 1}, true); }},
      {"log_softmax", "last axis", {x}, [](Args a) { return log_softmax(a[0]); }},
      {"log_softmax", "middle axis", {x}, [](Args a) { return log_softmax(a[0], 1); }},
      {"log_softmax", "wider than the lanes", {wide}, [](Args a) { return log_softmax(a[0]); }},
  };
}

}  // namespace xtape::test

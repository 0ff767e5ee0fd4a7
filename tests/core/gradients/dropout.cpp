#include "cases.hpp"

namespace xtape::test {

GradCases dropout_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({4, 5}, 81);
  return {
      {"dropout", "a third dropped", {x}, [](Args a) { return dropout(a[0], 1.0 / 3, {1, 2, 3}); }},
      {"dropout", "all dropped", {x}, [](Args a) { return dropout(a[0], 1, {1, 2, 3}); }},
  };
}

}  // namespace xtape::test

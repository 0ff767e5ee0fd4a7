#include "cases.hpp"

namespace xtape::test {

GradCases matmul_grad_cases() {
  using Args = std::span<const Tensor>;
  GradCases cases;
  const auto product = [&](const char* title, const Shape& a, const Shape& b, MatmulOptions o) {
    cases.push_back({"matmul", title, {sample(a, 21), sample(b, 22)}, [o](Args x) { return matmul(x[0], x[1], o); }});
  };
  product("2-D", {2, 3}, {3, 4}, {});
  product("a transposed", {3, 2}, {3, 4}, {.transpose_a = true});
  product("b transposed", {2, 3}, {4, 3}, {.transpose_b = true});
  product("both transposed", {3, 2}, {4, 3}, {.transpose_a = true, .transpose_b = true});
  product("square, for one operand twice", {3, 3}, {3, 3}, {});
  product("batch", {2, 2, 3}, {2, 3, 4}, {});
  product("batch against matrix", {2, 2, 3}, {3, 4}, {});
  product("transposed batch against matrix", {2, 3, 2}, {3, 4}, {.transpose_a = true});
  product("matrix against batch", {2, 3}, {2, 4, 3}, {.transpose_b = true});
  product("broadcast batches", {2, 1, 2, 3}, {3, 3, 4}, {});
  product("vectors", {3}, {3}, {});
  product("vector on the left", {3}, {2, 3, 4}, {});
  product("vector on the right", {2, 4, 3}, {3}, {});
  const Array x = sample({2, 3, 4}, 23), w = sample({5, 4}, 24), b = sample({5}, 25);
  cases.push_back({"linear", "with bias", {x, w, b}, [](Args a) { return linear(a[0], a[1], a[2]); }});
  cases.push_back({"linear", "without bias", {x, w}, [](Args a) { return linear(a[0], a[1]); }});
  const Array u = sample({3}, 26), v = sample({3}, 27), longer = sample({4}, 28);
  cases.push_back({"matmul", "dot", {u, v}, [](Args a) { return dot(a[0], a[1]); }});
  cases.push_back({"matmul", "outer", {u, longer}, [](Args a) { return outer(a[0], a[1]); }});
  return cases;
}

}  // namespace xtape::test

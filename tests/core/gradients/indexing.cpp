#include "cases.hpp"

namespace xtape::test {

GradCases indexing_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array weight = sample({5, 3}, 71);
  const Array source = sample({3, 2}, 72), cube = sample({2, 3, 4}, 73), cube2 = sample({2, 3, 4}, 74);
  const IndexArray columns = {{0, 2, 2, 1}, {1, 1, 1, 1}, {2, 0, 1, 0}, {0, 0, 0, 0}, {2, 1, 2, 1}};
  const IndexArray rows = {{4, 0}, {4, 1}, {2, 0}};
  const IndexArray middle = {{{0, 2, 1, 1}, {2, 2, 0, 0}}, {{1, 1, 1, 1}, {1, 0, 2, 0}}};
  const IndexArray middle2 = {{{0, 2, 1, 1}, {2, 2, 0, 0}, {0, 1, 1, 1}}, {{1, 1, 1, 1}, {1, 0, 2, 0}, {2, 2, 2, 2}}};
  const IndexArray ids = {{0, 1, 1, 4}, {2, 1, 0, 0}};
  return {
      {"embedding", "repeated rows", {weight}, [ids](Args a) { return embedding(a[0], ids); }},
      {"gather", "along the last axis, repeated", {weight}, [columns](Args a) { return gather(a[0], 1, columns); }},
      {"gather", "along the first axis, fewer columns", {weight}, [rows](Args a) { return gather(a[0], 0, rows); }},
      {"gather", "middle axis", {cube}, [middle](Args a) { return gather(a[0], -2, middle); }},
      {"scatter_add", "repeated", {weight, source}, [rows](Args a) { return scatter_add(a[0], 0, rows, a[1]); }},
      {"scatter_add", "middle axis", {cube, cube2}, [middle2](Args a) { return scatter_add(a[0], 1, middle2, a[1]); }},
  };
}

}  // namespace xtape::test

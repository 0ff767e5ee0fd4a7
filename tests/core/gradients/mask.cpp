#include "cases.hpp"

namespace xtape::test {

GradCases mask_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array a = sample({2, 3}, 101), b = sample({2, 3}, 102), row = sample({3}, 103), cube = sample({4, 1, 3}, 104);
  const Array column = sample({2, 1}, 105), scalar = sample({}, 106);
  const Mask mask = {{true, false, true}, {false, false, true}};
  const Mask mask_row = {true, false, true};
  const auto select = [=](Args x) { return where(mask, x[0], x[1]); };
  return {
      {"where", "same shape", {a, b}, select},
      {"where", "row", {a, row}, select},
      {"where", "both broadcast", {cube, column}, select},
      {"where", "scalar", {a, scalar}, select},
      {"where", "the mask broadcasts", {a, b}, [=](Args x) { return where(mask_row, x[0], x[1]); }},
      {"where", "the mask has most axes", {row, scalar}, select},
      {"masked_fill", "", {a}, [=](Args x) { return masked_fill(x[0], mask, 7); }},
      {"masked_fill", "the mask broadcasts", {a}, [=](Args x) { return masked_fill(x[0], mask_row, 7); }},
  };
}

}  // namespace xtape::test

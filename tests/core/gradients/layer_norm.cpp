#include "cases.hpp"

namespace xtape::test {

GradCases layer_norm_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 5}, 61), weight = sample({5}, 62, 0.5, 2), bias = sample({5}, 63);
  const Array wide = sample({3, 37}, 64), wide_weight = sample({37}, 65, 0.5, 2);
  return {
      {"layer_norm", "no affine", {x}, [](Args a) { return layer_norm(a[0]); }},
      {"layer_norm", "weight only, wide", {wide, wide_weight}, [](Args a) { return layer_norm(a[0], a[1]); }},
      {"layer_norm", "weight and bias", {x, weight, bias}, [](Args a) { return layer_norm(a[0], a[1], a[2]); }},
      {"rms_norm", "no weight", {x}, [](Args a) { return rms_norm(a[0]); }},
      {"rms_norm", "weight, wide", {wide, wide_weight}, [](Args a) { return rms_norm(a[0], a[1]); }},
  };
}

}  // namespace xtape::test

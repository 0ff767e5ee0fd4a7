#include "cases.hpp"

namespace xtape::test {

GradCases batch_norm_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 5}, 61), weight = sample({5}, 62, 0.5, 2), bias = sample({5}, 63);
  const Array wide = sample({3, 37}, 64), wide_weight = sample({37}, 65, 0.5, 2);
  const Array tall = sample({70, 2}, 66), mean = sample({5}, 67), variance = sample({5}, 68, 0.5, 2);
  return {
      {"batch_norm", "no affine", {x}, [](Args a) { return batch_norm(a[0]).y; }},
      {"batch_norm", "weight only, wide", {wide, wide_weight}, [](Args a) { return batch_norm(a[0], a[1]).y; }},
      {"batch_norm", "weight and bias", {x, weight, bias}, [](Args a) { return batch_norm(a[0], a[1], a[2]).y; }},
      {"batch_norm", "more rows than a block", {tall}, [](Args a) { return batch_norm(a[0]).y; }},
      {"batch_norm_eval", "no affine", {x}, [=](Args a) { return batch_norm_eval(a[0], mean, variance); }},
      {"batch_norm_eval",
       "weight and bias",
       {x, weight, bias},
       [=](Args a) { return batch_norm_eval(a[0], mean, variance, a[1], a[2]); }},
  };
}

}  // namespace xtape::test

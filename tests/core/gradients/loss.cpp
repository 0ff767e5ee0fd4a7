#include "cases.hpp"

namespace xtape::test {

namespace {

void add_cross_entropy_cases(GradCases& cases) {
  using Args = std::span<const Tensor>;
  const Array logits = sample({2, 3, 5}, 91, -2, 2), soft = sample({2, 3, 5}, 92, 0, 1);
  const Array wide = sample({2, 37}, 93, -2, 2), wide_soft = sample({2, 37}, 94, 0, 1);
  const IndexArray targets = {{0, 4, kIgnore}, {2, 2, 1}};
  const auto both = [&](const char* title, CrossEntropyOptions options) {
    cases.push_back({"cross_entropy", title, {logits}, [=](Args a) { return cross_entropy(a[0], targets, options); }});
    cases.push_back(
        {"cross_entropy_soft", title, {logits, soft}, [=](Args a) { return cross_entropy(a[0], a[1], options); }});
  };
  both("mean", {});
  both("sum", {.reduction = Reduction::sum});
  both("none", {.reduction = Reduction::none});
  both("batchmean", {.reduction = Reduction::batchmean});
  both("smoothed", {.label_smoothing = 0.2});
  both("smoothed, none", {.reduction = Reduction::none, .label_smoothing = 0.7});
  cases.push_back({"cross_entropy_soft", "wider than the lanes", {wide, wide_soft}, [](Args a) {
                     return cross_entropy(a[0], a[1], {.label_smoothing = 0.1});
                   }});
}

void add_pointwise_cases(GradCases& cases) {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 5}, 141, -2, 2), t = sample({2, 5}, 142, 0.1, 0.9), w = sample({5}, 143, 0.5, 2);
  const Array positive = sample({2, 5}, 144, 0.1, 0.9);
  const auto add = [&](const std::string& op, const char* title, TensorFunction f) {
    cases.push_back({op, title, {op == "kl_div" ? positive : x, t}, std::move(f)});
  };
  const auto all = [&](const char* op, const std::function<Tensor(const Tensor&, const Tensor&, Reduction)>& f) {
    add(op, "mean", [f](Args a) { return f(a[0], a[1], Reduction::mean); });
    add(op, "sum", [f](Args a) { return f(a[0], a[1], Reduction::sum); });
    add(op, "none", [f](Args a) { return f(a[0], a[1], Reduction::none); });
    add(op, "batchmean", [f](Args a) { return f(a[0], a[1], Reduction::batchmean); });
  };
  all("mse_loss", mse_loss);
  all("l1_loss", l1_loss);
  all("huber_loss", [](const Tensor& a, const Tensor& b, Reduction r) {
    return huber_loss(a, b, {.delta = real(0.7), .reduction = r});
  });
  all("binary_cross_entropy_with_logits", [](const Tensor& a, const Tensor& b, Reduction r) {
    return binary_cross_entropy_with_logits(a, b, {.reduction = r});
  });
  all("kl_div", [](const Tensor& a, const Tensor& b, Reduction r) { return kl_div(a, b, {.reduction = r}); });
  all("kl_div_log",
      [](const Tensor& a, const Tensor& b, Reduction r) { return kl_div(a, b, {.log_target = true, .reduction = r}); });
  for (Reduction r : {Reduction::mean, Reduction::none}) {
    cases.push_back({"binary_cross_entropy_with_logits", "weighted", {x, t, w}, [r](Args a) {
                       return binary_cross_entropy_with_logits(a[0], a[1], {.weight = a[2], .reduction = r});
                     }});
    cases.push_back({"binary_cross_entropy_with_logits", "both weights", {x, t, w}, [r](Args a) {
                       return binary_cross_entropy_with_logits(a[0], a[1],
                                                               {.weight = a[2], .pos_weight = a[2], .reduction = r});
                     }});
  }
}

}  // namespace

GradCases loss_grad_cases() {
  GradCases cases;
  add_cross_entropy_cases(cases);
  add_pointwise_cases(cases);
  return cases;
}

}  // namespace xtape::test

// The lines of docs/subgradients.md about what is selected, about NaN, and about attention.
#pragma once

#include "core/evaluate.hpp"

namespace xtape::test {

using Inputs = std::span<const Tensor>;

/// One line of the table, with its check.
struct TableLine {
  std::string function, where;  ///< the first two columns of the table
  TensorFunction f;
  std::vector<Array> inputs;
  Array upstream;
  std::vector<Array> gradients;
};

inline std::vector<TableLine> selections() {
  return {
      {"`softmax`",
       "an element is infinite (the result is NaN)",
       [](Inputs a) { return softmax(a[0]); },
       {row({kInf, 1})},
       row({1, 2}),
       {row({kNaN, kNaN})}},
      {"`softmax`",
       "all elements minus infinity, g is NaN",
       [](Inputs a) { return softmax(a[0]); },
       {row({-kInf, -kInf})},
       row({kNaN, 1}),
       {row({0, 0})}},
      {"`softmax`",
       "an element minus infinity, its g is NaN",
       [](Inputs a) { return softmax(a[0]); },
       {row({0, -kInf, 0})},
       row({1, kNaN, 3}),
       {row({-0.5, 0, 0.5})}},
      {"`logsumexp`",
       "an element minus infinity, g is infinite",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({-kInf, 1})},
       array({}, {kInf}),
       {row({0, kInf})}},
      {"`l1_loss`",
       "input = target, g is infinite",
       [](Inputs a) { return l1_loss(a[0], a[1]); },
       {row({1}), row({1})},
       array({}, {kInf}),
       {row({0}), row({0})}},
      {"`kl_div`",
       "target = 0, g is infinite",
       [](Inputs a) { return kl_div(a[0], a[1]); },
       {row({-1}), row({0})},
       array({}, {kInf}),
       {row({0}), row({0})}},
      {"`binary_cross_entropy_with_logits`",
       "weight 0, the loss is infinite",
       [](Inputs a) { return binary_cross_entropy_with_logits(a[0], a[1], {.weight = Tensor(row({0, 1}))}); },
       {row({kInf, 0}), row({0, 0.5})},
       array({}, {1}),
       {row({0, 0}), row({0, 0})}},
      {"`cross_entropy`",
       "ignored target, g is NaN",
       [](Inputs a) { return cross_entropy(a[0], indices({1}, {kIgnore}), {.reduction = Reduction::none}); },
       {array({1, 2}, {1, 2})},
       row({kNaN}),
       {array({1, 2}, {0, 0})}},
      {"`cross_entropy`",
       "a class with logit minus infinity, g is infinite",
       [](Inputs a) { return slice(cross_entropy(a[0], indices({1}, {0}), {.reduction = Reduction::none}), 0, 0, 1); },
       {array({1, 2}, {0, -kInf})},
       row({-kInf}),
       {array({1, 2}, {kNaN, 0})}},
      {"`rnn` with relu",
       "h = 0, g is NaN",
       [](Inputs a) { return rnn(a[0], {}, {a[1], Tensor::zeros({1, 1})}, {Nonlinearity::relu}).y; },
       {array({1, 1, 1}, {-1}), array({1, 1}, {1})},
       array({1, 1, 1}, {kNaN}),
       {array({1, 1, 1}, {0}), array({1, 1}, {0})}},
      {"`dropout`",
       "a dropped element, g is NaN",
       [](Inputs a) { return dropout(a[0], 1, {1, 2, 3}); },
       {row({1})},
       row({kNaN}),
       {row({0})}},
      {"`embedding`",
       "the padding row, g is NaN",
       [](Inputs a) { return embedding(a[0], indices({2}, {0, 1}), 0); },
       {array({2, 1}, {1, 2})},
       array({2, 1}, {kNaN, 3}),
       {array({2, 1}, {0, 3})}},
  };
}

inline std::vector<TableLine> nans() {
  std::vector<TableLine> out = {
      {"`softmax`",
       "an element is NaN",
       [](Inputs a) { return softmax(a[0]); },
       {row({kNaN, 1})},
       row({1, 2}),
       {row({kNaN, kNaN})}},
      {"`logsumexp`",
       "an element is NaN",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({kNaN, 1})},
       array({}, {1}),
       {row({kNaN, kNaN})}},
      {"`cross_entropy`",
       "a logit is NaN",
       [](Inputs a) { return cross_entropy(a[0], indices({2}, {0, 0}), {.reduction = Reduction::sum}); },
       {array({2, 2}, {kNaN, 1, 0, 0})},
       array({}, {1}),
       {array({2, 2}, {kNaN, kNaN, -0.5, 0.5})}},
  };
  using Loss = Tensor (*)(const Tensor&, const Tensor&);
  const auto loss = [&](const char* name, const char* where, Loss f, double bad, double other) {
    out.push_back({name,
                   where,
                   [f](Inputs a) { return f(a[0], Tensor(row({0.5, 0.5}))); },
                   {row({kNaN, 0})},
                   array({}, {1}),
                   {row({bad, other})}});
  };
  const char* input = "an input is NaN";
  loss("`mse_loss`", input, [](const Tensor& a, const Tensor& t) { return mse_loss(a, t); }, kNaN, -0.5);
  loss("`l1_loss`", input, [](const Tensor& a, const Tensor& t) { return l1_loss(a, t); }, kNaN, -0.5);
  loss("`huber_loss`", input, [](const Tensor& a, const Tensor& t) { return huber_loss(a, t); }, kNaN, -0.25);
  loss("`kl_div`", input, [](const Tensor& a, const Tensor& t) { return kl_div(a, t); }, -0.25, -0.25);
  loss(
      "`binary_cross_entropy_with_logits`", "a logit is NaN",
      [](const Tensor& a, const Tensor& t) { return binary_cross_entropy_with_logits(a, t); }, kNaN, 0);
  return out;
}

inline std::vector<TableLine> attentions() {
  const auto column = [](std::initializer_list<double> x) { return array({1, 1, std::ssize(x), 1}, x); };
  const Mask second = mask({1, 2}, {false, true}), both = mask({1, 2}, {true, true});
  return {
      {"`scaled_dot_product_attention`",
       "a hidden key, its query is NaN",
       [=](Inputs a) {
         return scaled_dot_product_attention(Tensor(column({kNaN})), a[0], a[1], {.key_padding = second});
       },
       {column({1, 2}), column({3, 4})},
       column({1}),
       {column({kNaN, 0}), column({kNaN, 0})}},
      {"`scaled_dot_product_attention`",
       "a visible score of minus infinity, its value is infinite",
       [=](Inputs a) { return scaled_dot_product_attention(Tensor(column({1})), Tensor(column({0, -kInf})), a[0]); },
       {column({3, kInf})},
       column({2}),
       {column({2, 0})}},
      {"`scaled_dot_product_attention`",
       "g of a NaN query is 0",
       [=](Inputs a) { return scaled_dot_product_attention(Tensor(column({kNaN, 0})), a[0], a[1]); },
       {column({1, 2}), column({3, 5})},
       column({0, 1}),
       {column({0, 0}), column({0.5, 0.5})}},
      {"`linear_attention`",
       "a query that sees no key, g is infinite",
       [=](Inputs a) { return linear_attention(a[0], a[1], a[2], {}, {.key_padding = both}); },
       {column({1}), column({1, 2}), column({3, 4})},
       column({kInf}),
       {column({0}), column({0, 0}), column({0, 0})}},
      {"`hard_attention`",
       "a score is NaN",
       [=](Inputs a) { return hard_attention(Tensor(column({1})), Tensor(column({5, kNaN})), a[0]); },
       {column({1, 2})},
       column({3}),
       {column({0, 3})}},
  };
}

}  // namespace xtape::test

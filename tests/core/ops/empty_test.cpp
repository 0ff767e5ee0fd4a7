// Ops on tensors without elements, forward and backward. Under the undefined-behavior sanitizer these tests found
// pointer arithmetic on null pointers.
#include "core/evaluate.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// Checks the shape of the result, and that each gradient has the shape of its input.
void check_shapes(const char* name, const TensorFunction& f, const std::vector<Shape>& shapes, const Shape& want) {
  INFO(name);
  std::vector<Array> inputs;
  for (const Shape& shape : shapes) inputs.push_back(Tensor::ones(shape).value());
  const Evaluated got = evaluate(f, inputs);
  CHECK(shape_text(got.value.shape()) == shape_text(want));
  for (std::size_t i = 0; i < shapes.size(); ++i) CHECK(shape_text(got.grads[i].shape()) == shape_text(shapes[i]));
}

}  // namespace

TEST_CASE("attention and heads with no sequences and with no positions") {
  for (const Shape& qkv : {Shape{0, 2, 12}, Shape{2, 0, 12}}) {
    check_shapes("self_attention", [](Inputs a) { return self_attention(a[0], 2); }, {qkv}, {qkv[0], qkv[1], 4});
    check_shapes("split_heads", [](Inputs a) { return split_heads(a[0], 2, 2, 3); }, {qkv}, {qkv[0], 2, qkv[1], 3});
  }
  const TensorFunction attend = [](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2]); };
  check_shapes("no queries", attend, {{2, 3, 0, 4}, {2, 3, 5, 4}, {2, 3, 5, 2}}, {2, 3, 0, 2});
  check_shapes("no keys", attend, {{2, 3, 5, 4}, {2, 3, 0, 4}, {2, 3, 0, 2}}, {2, 3, 5, 2});
  check_shapes("quadratic_features", [](Inputs a) { return quadratic_features(a[0]); }, {{3, 0}}, {3, 1});
}

TEST_CASE("every kind of attention without keys, queries, features or values") {
  using Attention = Tensor (*)(Inputs);
  const std::pair<const char*, Attention> kinds[] = {
      {"softmax", [](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2]); }},
      {"from scores",
       [](Inputs a) {
         return attention_from_scores(matmul(a[0], a[1], {.transpose_b = true}), a[2], {.causal = true});
       }},
      {"additive",
       [](Inputs a) {
         return attention_from_scores(additive_scores(a[0], a[1], Tensor::ones({3, a[0].shape()[3]})), a[2]);
       }},
      {"hard", [](Inputs a) { return hard_attention(a[0], a[1], a[2]); }},
      {"linear", [](Inputs a) { return linear_attention(a[0], a[1], a[2]); }},
      {"separable", [](Inputs a) { return separable_attention(a[0], a[1], a[2], {.causal = true}); }},
  };
  for (const auto& [name, attention] : kinds) {
    INFO(name);
    check_shapes("no queries", attention, {{2, 3, 0, 4}, {2, 3, 5, 4}, {2, 3, 5, 2}}, {2, 3, 0, 2});
    check_shapes("no keys", attention, {{2, 3, 5, 4}, {2, 3, 0, 4}, {2, 3, 0, 2}}, {2, 3, 5, 2});
    check_shapes("width 0", attention, {{2, 3, 5, 0}, {2, 3, 4, 0}, {2, 3, 4, 2}}, {2, 3, 5, 2});
    check_shapes("values of width 0", attention, {{2, 3, 5, 4}, {2, 3, 4, 4}, {2, 3, 4, 0}}, {2, 3, 5, 0});
    const Evaluated none = evaluate(
        attention, {full_array({1, 3, 2, 4}, real(kNaN)), empty_array({1, 3, 0, 4}), empty_array({1, 3, 0, 2})});
    check_equal(none.value, full_array({1, 3, 2, 2}, real(0)));
    check_equal(none.grads[0], full_array({1, 3, 2, 4}, real(0)));
  }
}

TEST_CASE("softmax and losses without elements") {
  const auto zero = array({}, {0});
  for (const Shape& shape : {Shape{0, 3}, Shape{2, 0}}) {
    check_shapes("softmax", [](Inputs a) { return softmax(a[0]); }, {shape}, shape);
    check_shapes("softmax, first axis", [](Inputs a) { return softmax(a[0], 0); }, {shape}, shape);
    check_shapes("log_softmax", [](Inputs a) { return log_softmax(a[0]); }, {shape}, shape);
    check_shapes("logsumexp", [](Inputs a) { return logsumexp(a[0], {1}); }, {shape}, {shape[0]});
    check_shapes("mse", [](Inputs a) { return mse_loss(a[0], a[1]); }, {shape, shape}, {});
    check_shapes("cross_entropy", [](Inputs a) { return cross_entropy(a[0], a[1]); }, {shape, shape}, {});
    const Tensor none = Tensor::zeros(shape);
    for (const Tensor& loss :
         {mse_loss(none, none), l1_loss(none, none), huber_loss(none, none), kl_div(none, none),
          cross_entropy(none, none),
          binary_cross_entropy_with_logits(none, none, {.weight = Tensor::scalar(2), .pos_weight = none})})
      check_equal(loss.value(), zero);
  }
  check_equal(logsumexp(Tensor::zeros({2, 0}), {1}).value(), row({-kInf, -kInf}));
  check_equal(cross_entropy(Tensor::zeros({1, 0}), indices({1}, {kIgnore})).value(), zero);
  check_throws<IndexError>([] { cross_entropy(Tensor::zeros({1, 0}), indices({1}, {0})); },
                           "expected no targets but the ignored -100, got");
}

TEST_CASE("recurrent networks with no sequences and with no steps") {
  for (const Shape& x : {Shape{0, 3, 2}, Shape{2, 0, 2}}) {
    const Shape want = {x[0], x[1], 4};
    check_shapes("rnn", [](Inputs a) { return rnn(a[0], {}, {a[1], a[2]}).y; }, {x, {4, 2}, {4, 4}}, want);
    check_shapes("lstm", [](Inputs a) { return lstm(a[0], {}, {}, {a[1], a[2]}).y; }, {x, {16, 2}, {16, 4}}, want);
    for (const GruReset reset : {GruReset::after, GruReset::before})
      check_shapes(
          "gru", [reset](Inputs a) { return gru(a[0], {}, {a[1], a[2]}, reset).y; }, {x, {12, 2}, {12, 4}}, want);
  }
}

TEST_CASE("slices and concatenations without elements") {
  check_shapes("slice", [](Inputs a) { return slice(a[0], 1, 2, 4); }, {{0, 5}}, {0, 2});
  check_shapes("concat", [](Inputs a) { return concat({a[0], a[1]}, 1); }, {{0, 5}, {0, 3}}, {0, 8});
  check_shapes("flip", [](Inputs a) { return flip(a[0], {1}); }, {{0, 5}}, {0, 5});
}

TEST_CASE("a number of heads that overflows is refused") {
  const Tensor x = Tensor::zeros({1, 2, 6});
  for (const index_t heads : {index_t{1} << 62, std::numeric_limits<index_t>::max()})
    check_throws<ShapeError>([&] { (void)split_heads(x, 0, heads, 4); }, "[split_heads] expected x [B, T, C]");
  check_throws<ShapeError>([&] { (void)split_heads(x, std::numeric_limits<index_t>::max(), 1, 4); }, "[split_heads]");
}

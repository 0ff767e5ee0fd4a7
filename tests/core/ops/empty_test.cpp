// Ops on tensors without elements, forward and backward. Under the undefined-behavior sanitizer these tests found
// pointer arithmetic on null pointers.
#include "core/evaluate.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// Checks the shape of the result, and that each gradient has the shape of its input.
void check_shapes(const char* name, const Function& f, const std::vector<Shape>& shapes, const Shape& want) {
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
  const Function attend = [](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2]); };
  check_shapes("no queries", attend, {{2, 3, 0, 4}, {2, 3, 5, 4}, {2, 3, 5, 2}}, {2, 3, 0, 2});
  check_shapes("no keys", attend, {{2, 3, 5, 4}, {2, 3, 0, 4}, {2, 3, 0, 2}}, {2, 3, 5, 2});
  check_shapes("quadratic_features", [](Inputs a) { return quadratic_features(a[0]); }, {{3, 0}}, {3, 1});
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
    check_throws<ShapeError>([&] { (void)split_heads(x, 0, heads, 4); }, "[split_heads] x must be [B, T, C]");
  check_throws<ShapeError>([&] { (void)split_heads(x, std::numeric_limits<index_t>::max(), 1, 4); }, "[split_heads]");
}

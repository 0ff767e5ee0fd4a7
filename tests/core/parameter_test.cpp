// Parameters: shared handles, versions, values still used by tensors, gradients.
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a parameter has a name, a value and flags") {
  Parameter w("layer.weight", array({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(w.defined());
  CHECK(w.name() == "layer.weight");
  CHECK(w.numel() == 6);
  CHECK(w.trainable());
  CHECK(w.decays());
  CHECK_FALSE(Parameter("bias", row({0}), false).decays());
  w.set_decays(false);
  w.set_trainable(false);
  CHECK_FALSE(w.decays());
  CHECK_FALSE(w.trainable());
}

TEST_CASE("copies of a parameter share one weight") {
  Parameter w("w", row({1, 2}));
  Parameter tied = w;
  CHECK(tied.same_as(w));
  CHECK_FALSE(Parameter("w", row({1, 2})).same_as(w));
  tied.set_value(row({3, 4}));
  check_equal(w.value(), row({3, 4}));
  Tape tape;
  const Tensor loss = sum(w * tied);
  CHECK(tape.nodes() == 3);  // one leaf for both handles
  tape.backward(loss);
  check_equal(w.grad(), row({6, 8}));
  check_equal(tied.grad(), row({6, 8}));
}

TEST_CASE("every change of the value increases the version") {
  Parameter w("w", row({1, 2}));
  const std::uint64_t first = w.version();
  w.set_value(row({3, 4}));
  CHECK(w.version() == first + 1);
  w.edit()[0] = 9;
  CHECK(w.version() == first + 2);
  w.set_grad(row({1, 1}));
  w.zero_grad();
  (void)w.grad();
  CHECK(w.version() == first + 2);
}

TEST_CASE("editing a value that a tensor still uses leaves the tensor unchanged") {
  Parameter w("w", row({1, 2}));
  const real* place = w.value().data();
  w.edit()[0] = 5;
  CHECK(w.value().data() == place);  // no tensor uses it: changed in place
  const Tensor held = w;
  w.edit()[0] = 7;
  check_equal(held.value(), row({5, 2}));
  check_equal(w.value(), row({7, 2}));
  w.set_value(row({8, 9}));
  check_equal(held.value(), row({5, 2}));
}

TEST_CASE("a value of the wrong shape is refused and nothing changes") {
  Parameter w("layer.w", row({1, 2}));
  check_throws<ShapeError>([&] { w.set_value(array({2, 1}, {3, 4})); },
                           "[parameter layer.w] expected a value of shape (2), got (2,1)");
  check_throws<ShapeError>([&] { w.set_grad(row({1, 2, 3})); },
                           "[parameter layer.w] expected a gradient of shape (2), got (3)");
  check_equal(w.value(), row({1, 2}));
  CHECK(w.version() == 0);
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("gradients are summed over tapes until zero_grad") {
  Parameter w("w", row({1, 2}));
  const auto step = [&](double factor) {
    Tape tape;
    tape.backward(sum(w * static_cast<real>(factor)));
  };
  step(3);
  step(10);
  check_equal(w.grad(), row({13, 13}));
  w.zero_grad();
  CHECK_FALSE(w.has_grad());
  check_equal(w.grad(), row({0, 0}));
  CHECK_FALSE(w.has_grad());
  step(5);
  CHECK(w.has_grad());
  check_equal(w.grad(), row({5, 5}));
}

TEST_CASE("every op that writes directly into a parameter's gradient adds to the existing one") {
  // Each op runs once with no gradient and once with a gradient of ones.
  const IndexArray ids = {1, 0, 1};
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> ops = {
      {"linear weight", [](const Tensor& w) { return linear(Tensor(array({3, 2}, {1, 2, 3, 4, 5, 6})), w); }},
      {"linear input", [](const Tensor& w) { return linear(w, Tensor(array({3, 2}, {1, 2, 3, 4, 5, 6}))); }},
      {"linear bias",
       [](const Tensor& w) { return linear(Tensor::ones({3, 1}), Tensor::ones({4, 1}), reshape(w, {4})); }},
      {"matmul", [](const Tensor& w) { return matmul(w, w, {.transpose_a = true}); }},
      {"batch matmul", [](const Tensor& w) { return matmul(Tensor::ones({3, 2, 2}), w, {.transpose_a = true}); }},
      {"embedding", [&](const Tensor& w) { return embedding(w, ids); }},
      {"add", [](const Tensor& w) { return w + w; }},
      {"mul", [](const Tensor& w) { return w * w; }},
      {"div", [](const Tensor& w) { return real(1) / w; }},
      {"pow", [](const Tensor& w) { return pow(w, real(3)); }},
      {"tanh", [](const Tensor& w) { return tanh(w); }},
      {"gelu", [](const Tensor& w) { return gelu(w); }},
      {"sum", [](const Tensor& w) { return sum(w, {1}); }},
      {"mean", [](const Tensor& w) { return mean(w, {0}); }},
      {"reshape", [](const Tensor& w) { return reshape(w, {4}); }},
      {"permute", [](const Tensor& w) { return transpose(w); }},
      {"slice", [](const Tensor& w) { return slice(w, 0, 1); }},
      {"concat", [](const Tensor& w) { return concat({w, w}, 1); }},
      {"softmax", [](const Tensor& w) { return pow(softmax(w), real(2)); }},
      {"log_softmax", [](const Tensor& w) { return pow(log_softmax(w), real(2)); }},
      {"layer_norm", [](const Tensor& w) { return pow(layer_norm(w, reshape(slice(w, 0, 0, 1), {2})), real(3)); }},
      {"dropout", [](const Tensor& w) { return dropout(w, 0.5, {1, 2, 3}); }},
      {"cross_entropy", [](const Tensor& w) { return cross_entropy(w, {0, 1}); }},
      {"attention",
       [](const Tensor& w) {
         const Tensor h = reshape(w, {1, 1, 2, 2});
         return scaled_dot_product_attention(h, h, h);
       }},
      {"self_attention",
       [](const Tensor& w) { return self_attention(reshape(concat({w, w * real(2), w * real(3)}, 1), {1, 2, 6}), 1); }},
  };
  for (const auto& [name, op] : ops) {
    INFO(name);
    const auto gradient = [&](bool preset) {
      Parameter w("w", array({2, 2}, {0.5, 1.5, 2.5, 0.25}));
      if (preset) w.set_grad(Tensor::ones({2, 2}).value());
      Tape tape;
      tape.backward(sum(op(w)));
      return w.grad();
    };
    Array want = gradient(false);
    for (real& x : want) x += 1;
    check_near(gradient(true), want, {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
  }
}

TEST_CASE("a gradient may be set and scaled by the user") {
  Parameter w("w", row({1, 2}));
  w.set_grad(row({3, 4}));
  CHECK(w.has_grad());
  w.edit_grad()[1] *= real(0.5);
  check_equal(w.grad(), row({3, 2}));
  Parameter fresh("fresh", row({1, 2}));
  fresh.edit_grad()[0] = 1;  // an unset gradient starts from zeros
  check_equal(fresh.grad(), row({1, 0}));
}

TEST_CASE("the gradient of a scalar parameter is a scalar") {
  Parameter s("s", array({}, {3}));
  Tape tape;
  tape.backward(s * s);
  check_equal(s.grad(), array({}, {6}));
}

TEST_CASE("a parameter itself may be the loss") {
  Parameter s("s", array({1}, {3}));
  Tape tape;
  tape.backward(s);
  check_equal(s.grad(), row({1}));
}

TEST_CASE("an undefined parameter handle is refused with a clear error") {
  Parameter none;
  CHECK_FALSE(none.defined());
  check_throws<ValueError>([&] { (void)none.name(); }, "[parameter] this handle is empty");
  check_throws<ValueError>([&] { (void)none.value(); }, "[parameter] this handle is empty");
  check_throws<ValueError>([&] { (void)none.tensor(); }, "[parameter] this handle is empty");
  check_throws<ValueError>([&] { none.zero_grad(); }, "[parameter] this handle is empty");
  check_throws<ValueError>([&] { (void)none.edit(); }, "[parameter] this handle is empty");
}

TEST_CASE("grad_norm is the norm cached by clipping until the gradient changes, else it is computed") {
  Parameter w("w", row({1, 2}));
  CHECK(w.grad_norm() == 0);
  w.set_grad(row({3, 4}));
  check_near(w.grad_norm(), 5);
  w.cache_grad_norm(100);
  CHECK(w.grad_norm() == 100);
  w.set_grad(row({6, 8}));
  check_near(w.grad_norm(), 10);
  w.cache_grad_norm(100);
  {
    Tape tape;
    tape.backward(sum(w.tensor()));
  }
  check_near(w.grad_norm(), std::sqrt(49.0 + 81.0));
  w.cache_grad_norm(100);
  w.zero_grad();
  CHECK(w.grad_norm() == 0);
}

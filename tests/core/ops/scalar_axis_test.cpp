// As in PyTorch, ops along an axis accept axis 0 or -1 of a scalar and treat it as a single element.
#include "core/evaluate.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;
using AlongAxis = Tensor (*)(const Tensor&, index_t axis);

/// Checks the op along the axes -1 and 0 of the scalar 3, its gradient, and a typed error for every other axis.
void check_scalar(const char* name, AlongAxis op, double want, double gradient) {
  INFO(name);
  for (const index_t axis : {-1, 0}) {
    const Evaluated got = evaluate([&](Inputs a) { return op(a[0], axis); }, {array({}, {3})}, array({}, {2}));
    check_near(got.value, array({}, {want}));
    check_near(got.grads[0], array({}, {2 * gradient}));
  }
  for (const index_t axis : {-2, 1})
    check_throws<ShapeError>([&] { (void)op(Tensor::scalar(3), axis); }, "expected an axis of shape (), got ");
}

}  // namespace

TEST_CASE("ops along an axis treat a scalar as one element") {
  check_scalar("sum", [](const Tensor& x, index_t axis) { return sum(x, {axis}); }, 3, 1);
  check_scalar("mean, kept", [](const Tensor& x, index_t axis) { return mean(x, {axis}, true); }, 3, 1);
  check_scalar("max", [](const Tensor& x, index_t axis) { return max(x, {axis}); }, 3, 1);
  check_scalar("min", [](const Tensor& x, index_t axis) { return min(x, {axis}, true); }, 3, 1);
  check_scalar("var", [](const Tensor& x, index_t axis) { return var(x, {axis}, false, 0); }, 0, 0);
  check_scalar("stddev", [](const Tensor& x, index_t axis) { return stddev(x, {axis}, true, 0); }, 0, 0);
  check_scalar("norm", [](const Tensor& x, index_t axis) { return norm(x, {axis}); }, 3, 1);
  check_scalar("logsumexp", [](const Tensor& x, index_t axis) { return logsumexp(x, {axis}); }, 3, 1);
  check_scalar("softmax", softmax, 1, 0);
  check_scalar("log_softmax", log_softmax, 0, 0);
  check_scalar("cumsum", cumsum, 3, 1);
  check_scalar("flip", [](const Tensor& x, index_t axis) { return flip(x, {axis}); }, 3, 1);
  check_scalar("squeeze", [](const Tensor& x, index_t axis) { return squeeze(x, {axis}); }, 3, 1);
  check_scalar("transpose", [](const Tensor& x, index_t axis) { return transpose(x, axis, 0); }, 3, 1);
  check_scalar("gather", [](const Tensor& x, index_t axis) { return gather(x, axis, indices({}, {0})); }, 3, 1);
  check_scalar(
      "scatter_add",
      [](const Tensor& x, index_t axis) { return scatter_add(x, axis, indices({}, {0}), Tensor::scalar(4)); }, 7, 1);
}

TEST_CASE("argmax of a scalar is 0") {
  for (const index_t axis : {-1, 0}) {
    CHECK(argmax(Tensor::scalar(3), axis)() == 0);
    CHECK(argmin(Tensor::scalar(3), axis, true)() == 0);
  }
  check_throws<ShapeError>([] { (void)argmax(Tensor::scalar(3), 1); }, "[argmax] expected an axis of shape (), got 1");
  check_throws<ShapeError>([] { (void)sum(Tensor::scalar(3), {0, -1}); }, "[sum] expected different axes of shape");
  check_throws<IndexError>([] { (void)gather(Tensor::scalar(3), 0, indices({}, {1})); },
                           "[gather] expected indices in 0..0, got 1");
}

TEST_CASE("a scalar cannot be sliced or concatenated along an axis") {
  const Tensor x = Tensor::scalar(3);
  check_throws<ShapeError>([&] { (void)slice(x, 0, 0); }, "[slice] expected an axis of shape (), got 0");
  check_throws<ShapeError>([&] { (void)concat({x, x}, 0); }, "[concat] expected an axis of shape (), got 0");
  check_throws<ShapeError>([&] { (void)split(x, 1); }, "[split] expected an axis of shape (), got 0");
}

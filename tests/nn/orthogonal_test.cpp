// Orthogonal and identity initializers.
#include <xtape/core/ops/matmul.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

Array filled_by(const Init& init, const Shape& shape, std::uint64_t seed = 1) {
  Array out = empty_array(shape);
  Random random(seed, "orthogonal");
  init(out, random);
  return out;
}

Array scaled_identity(index_t n, double scale) {
  Array out = Tensor::zeros({n, n}).value();
  for (index_t i = 0; i < n; ++i) out(i, i) = static_cast<real>(scale);
  return out;
}

}  // namespace

TEST_CASE("orthogonal: rows, or columns if there are fewer, are orthonormal up to the gain") {
  const Limits limits = {0, tolerance(1e-13, 2e-6)};
  for (const Shape& shape : {Shape{40, 40}, Shape{10, 40}, Shape{1, 7}}) {
    const Array w = filled_by(init::orthogonal(1.5), shape);
    check_near(matmul(w, w, {.transpose_b = true}).value(), scaled_identity(shape[0], 2.25), limits);
  }
  const Array tall = filled_by(init::orthogonal(), {40, 10});
  check_near(matmul(tall, tall, {.transpose_a = true}).value(), scaled_identity(10, 1), limits);
  Array kernel = filled_by(init::orthogonal(), {4, 3, 5});
  kernel.reshape({4, 15});
  check_near(matmul(kernel, kernel, {.transpose_b = true}).value(), scaled_identity(4, 1), limits);
}

TEST_CASE("orthogonal: the matrices are uniformly distributed") {
  // Each entry of a uniformly distributed orthogonal 2 x 2 matrix has mean 0 and mean square 1/2.
  double sum = 0, squares = 0;
  constexpr int draws = 2000;
  for (int i = 0; i < draws; ++i) {
    const Array w = filled_by(init::orthogonal(), {2, 2}, static_cast<std::uint64_t>(i));
    sum += static_cast<double>(w(1, 1));
    squares += static_cast<double>(w(1, 1)) * static_cast<double>(w(1, 1));
  }
  CHECK(std::abs(sum / draws) < 4 * std::sqrt(0.5 / draws));
  CHECK(std::abs(squares / draws - 0.5) < 4 * std::sqrt(0.125 / draws));
}

TEST_CASE("identity has the gain on the diagonal") {
  check_equal(filled_by(init::identity(0.5), {2, 3}), array({2, 3}, {0.5, 0, 0, 0, 0.5, 0}));
  check_equal(filled_by(init::identity(), {3, 2}), array({3, 2}, {1, 0, 0, 1, 0, 0}));
}

TEST_CASE("orthogonal and identity refuse tensors that are not matrices") {
  check_throws<ShapeError>([] { filled_by(init::orthogonal(), {4}); },
                           "expected at least two axes for fan-in and fan-out, got (4)");
  check_throws<ShapeError>([] { filled_by(init::identity(), {4}); }, "expected a matrix for an identity, got (4)");
  check_throws<ValueError>([] { init::orthogonal(-1); }, "expected a gain that is finite and at least 0, got");
}

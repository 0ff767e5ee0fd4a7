// Rotary positions: differences of positions, offsets, errors.
#include <xtape/core/ops.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("rotary: dot products depend on the difference of positions only, and lengths are kept") {
  const Tensor q(sample({1, 1, 1, 6}, 1)), k(sample({1, 1, 1, 6}, 2));
  const auto product = [&](index_t at_q, index_t at_k) {
    return static_cast<double>(sum(rotary(q, {.offset = at_q}) * rotary(k, {.offset = at_k})).item());
  };
  for (index_t shift : {1, 10, 1000})
    check_near(product(5 + shift, 2 + shift), product(5, 2), {0, tolerance(1e-10, 1e-5)});
  CHECK(std::abs(product(5, 2) - product(5, 3)) > 1e-3);
  check_equal(rotary(q).value(), q.value());
  check_near(norm(rotary(q, {.offset = 7})).item(), norm(q).item(), {tolerance(1e-14, 1e-6), 0});
  // Pair i rotates by base^(-2i/D) a position.
  const Tensor rotated = rotary(Tensor(array({1, 1, 2, 4}, {0, 0, 0, 0, 1, 0, 1, 0})), {.base = 16});
  check_near(slice(rotated, 2, 1).value(),
             array({1, 1, 1, 4}, {std::cos(1.0), std::sin(1.0), std::cos(0.25), std::sin(0.25)}),
             {tolerance(1e-14, 1e-6), 0});
}

TEST_CASE("rotary: positions count from an offset, which may differ between sequences") {
  const Tensor x(sample({2, 3, 5, 4}, 1));
  const Tensor whole = rotary(x);
  check_equal(rotary(slice(x, 2, 2, 5), {.offset = 2}).value(), slice(whole, 2, 2, 5).value());
  const Tensor shifted = rotary(x, {.offsets = IndexArray{0, 3}});
  check_equal(slice(shifted, 0, 0, 1).value(), slice(whole, 0, 0, 1).value());
  check_equal(slice(shifted, 0, 1, 2).value(), rotary(slice(x, 0, 1, 2), {.offset = 3}).value());
}

TEST_CASE("rotary: invalid widths, offsets and bases are refused") {
  check_throws<ShapeError>([] { rotary(Tensor::ones({1, 1, 2, 3})); },
                           "[rotary] expected x [B, H, T, D] with an even D, got");
  check_throws<ShapeError>([] { rotary(Tensor::ones({2, 1, 2, 4}), {.offsets = IndexArray{1}}); },
                           "expected offsets of shape (");
  check_throws<ValueError>([] { rotary(Tensor::ones({1, 1, 2, 4}), {.base = 0}); },
                           "expected a base that is positive and finite, got");
}

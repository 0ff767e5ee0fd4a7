// Embedding: repeated ids, the padding row, ids out of range, comparison with a one-hot product.
#include "core/evaluate.hpp"

#include <xtape/core/random.hpp>

using namespace xtape;
using namespace xtape::test;

namespace {
using Inputs = std::span<const Tensor>;
}

TEST_CASE("embedding selects rows for ids of any shape") {
  const Tensor w = array({3, 2}, {0, 1, 10, 11, 20, 21});
  check_equal(embedding(w, {2, 0}).value(), array({2, 2}, {20, 21, 0, 1}));
  IndexArray column = {1, 1};
  column.reshape({2, 1});
  check_equal(embedding(w, column).value(), array({2, 1, 2}, {10, 11, 10, 11}));
  CHECK(shape_text(embedding(w, IndexArray::from_shape({0, 4})).shape()) == "(0,4,2)");
  IndexArray single = IndexArray::from_shape({});
  single() = 1;
  check_equal(embedding(w, single).value(), row({10, 11}));
}

TEST_CASE("repeated ids sum their gradients, and the padding row gets none") {
  const IndexArray ids = {{0, 1, 1, 2}};
  const Evaluated got = evaluate([&](Inputs x) { return embedding(x[0], ids, 0); }, {sample({5, 3}, 1)});
  check_equal(got.grads[0], array({5, 3}, {0, 0, 0, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  check_equal(slice(Tensor(got.value), 1, 0, 1).value(),  // the padding row is read like any other
              reshape(slice(Tensor(sample({5, 3}, 1)), 0, 0, 1), {1, 1, 3}).value());
}

TEST_CASE("embedding equals a product with one-hot rows") {
  constexpr std::size_t length = 64, vocabulary = 7;
  Random random(3, "ids");
  IndexArray ids = IndexArray::from_shape({length});
  Array one_hot = Tensor::zeros({length, vocabulary}).value();
  for (std::size_t i = 0; i < length; ++i) {
    ids(i) = random.below(vocabulary);
    one_hot(i, static_cast<std::size_t>(ids(i))) = 1;
  }
  const Array w = sample({vocabulary, 5}, 4), up = sample({length, 5}, 5);
  const Evaluated picked = evaluate([&](Inputs x) { return embedding(x[0], ids); }, {w}, up);
  const Evaluated product = evaluate([&](Inputs x) { return matmul(Tensor(one_hot), x[0]); }, {w}, up);
  check_equal(picked.value, product.value);
  check_near(picked.grads[0], product.grads[0], {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
}

TEST_CASE("an id out of range is refused before anything is written") {
  Parameter w("w", sample({5, 3}, 1));
  w.set_grad(Tensor::ones({5, 3}).value());
  for (const index_t bad : {index_t{-1}, index_t{5}, index_t{1} << 31, -(index_t{1} << 40)}) {
    Tape tape;
    check_throws<IndexError>(
        [&] {
          (void)embedding(w, {0, bad});
        },
        "[embedding] id " + std::to_string(bad) + " is outside 0..4");
    CHECK(tape.nodes() <= 1);
  }
  check_equal(w.value(), sample({5, 3}, 1));
  check_equal(w.grad(), Tensor::ones({5, 3}).value());
}

TEST_CASE("embedding refuses a padding row out of range and a weight that is not a matrix") {
  const Tensor w = Tensor::zeros({5, 3});
  check_throws<IndexError>([&] { (void)embedding(w, {0}, 5); }, "[embedding] the padding row 5 is outside 0..4");
  check_throws<IndexError>([&] { (void)embedding(w, {0}, -2); }, "[embedding] the padding row -2 is outside 0..4");
  check_throws<ShapeError>([&] { (void)embedding(Tensor::zeros({5}), {0}); },
                           "[embedding] the weight must be a matrix; got shape (5)");
}

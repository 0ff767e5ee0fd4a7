// embedding, gather and scatter_add: values, repeated indices, indices out of range, a one-hot product.
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
  constexpr index_t length = 64, vocabulary = 7;
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
    check_throws<IndexError>([&] { (void)embedding(w, {0, bad}); },
                             "[embedding] expected ids in 0..4, got " + std::to_string(bad));
    CHECK(tape.nodes() <= 1);
  }
  check_equal(w.value(), sample({5, 3}, 1));
  check_equal(w.grad(), Tensor::ones({5, 3}).value());
}

TEST_CASE("embedding refuses a padding row out of range and a weight that is not a matrix") {
  const Tensor w = Tensor::zeros({5, 3});
  check_throws<IndexError>([&] { (void)embedding(w, {0}, 5); }, "[embedding] expected padding rows in 0..4, got 5");
  check_throws<IndexError>([&] { (void)embedding(w, {0}, -2); }, "[embedding] expected padding rows in 0..4, got -2");
  check_throws<ShapeError>([&] { (void)embedding(Tensor::zeros({5}), {0}); },
                           "[embedding] expected a weight [V, D], got (5)");
}

TEST_CASE("gather picks along an axis") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6});
  const IndexArray columns = indices({2, 4}, {2, 0, 0, 1, 1, 1, 2, 0});
  check_equal(gather(x, 1, columns).value(), array({2, 4}, {3, 1, 1, 2, 5, 5, 6, 4}));
  const IndexArray rows = indices({1, 2}, {1, 0});
  check_equal(gather(x, 0, rows).value(), array({1, 2}, {4, 2}));
  check_equal(gather(x, -2, rows).value(), array({1, 2}, {4, 2}));
  const IndexArray nothing = indices({2, 0}, {});
  CHECK(gather(x, 1, nothing).shape() == Shape{2, 0});
}

TEST_CASE("gather agrees with a plain loop along every axis of a cube") {
  const Array x = sample({3, 4, 5}, 1);
  Random random(7, "index");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    IndexArray index = empty_array<IndexArray>({3, 4, 5});
    for (index_t& i : index) i = random.below(x.shape()[axis]);
    const Array got = gather(x, static_cast<index_t>(axis), index).value();
    Array want = empty_array({3, 4, 5}), sums = Tensor::zeros({3, 4, 5}).value();
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t k = 0; k < 5; ++k) {
          const auto at = static_cast<std::size_t>(index(i, j, k));
          want(i, j, k) = axis == 0 ? x(at, j, k) : axis == 1 ? x(i, at, k) : x(i, j, at);
          (axis == 0 ? sums(at, j, k) : axis == 1 ? sums(i, at, k) : sums(i, j, at)) += x(i, j, k);
        }
    check_equal(got, want);
    check_near(scatter_add(Tensor::zeros({3, 4, 5}), static_cast<index_t>(axis), index, x).value(), sums);
  }
}

TEST_CASE("an index that repeats collects every gradient") {
  const IndexArray index = indices({4, 3}, {0, 0, 0, 1, 1, 0, 1, 2, 0, 2, 1, 0});
  const auto f = [&](Inputs x) { return gather(x[0], 0, index); };
  check_equal(evaluate(f, {sample({5, 3}, 1)}).grads[0], array({5, 3}, {1, 1, 4, 2, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_CASE("gathering rows agrees with a one-hot product for many ids") {
  Random random(3, "ids");
  const Array weight = sample({7, 3}, 2), seed = sample({64, 3}, 3);
  IndexArray rows = empty_array<IndexArray>({64, 3});
  Array one_hot = Tensor::zeros({64, 7}).value();
  for (std::size_t i = 0; i < 64; ++i) {
    const index_t id = random.below(7);
    one_hot(i, static_cast<std::size_t>(id)) = 1;
    for (std::size_t j = 0; j < 3; ++j) rows(i, j) = id;
  }
  const Evaluated picked = evaluate([&](Inputs x) { return gather(x[0], 0, rows); }, {weight}, seed);
  const Evaluated product = evaluate([&](Inputs x) { return matmul(Tensor(one_hot), x[0]); }, {weight}, seed);
  check_near(picked.value, product.value);
  check_near(picked.grads[0], product.grads[0], {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)});
}

TEST_CASE("scatter_add adds at repeated places and keeps its operands as they were") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6}), source = array({2, 2}, {10, 20, 30, 40});
  const IndexArray index = indices({2, 2}, {0, 0, 2, 1});
  check_equal(scatter_add(x, 1, index, source).value(), array({2, 3}, {31, 2, 3, 4, 45, 36}));
  check_equal(x.value(), array({2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto f = [&](Inputs a) { return scatter_add(a[0], 1, index, a[1]); };
  const Array seed = array({2, 3}, {1, 2, 3, 4, 5, 6});
  const Evaluated e = evaluate(f, {x.value(), source.value()}, seed);
  check_equal(e.grads[0], seed);
  check_equal(e.grads[1], array({2, 2}, {1, 1, 6, 5}));
}

TEST_CASE("an index outside the axis is refused before anything is read or written") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6}), source = array({1, 1}, {1});
  for (index_t bad : {index_t{-1}, index_t{3}, index_t{1} << 31}) {
    const IndexArray index = indices({1, 1}, {bad});
    check_throws<IndexError>([&] { gather(x, 1, index); },
                             "[gather] expected indices in 0..2, got " + std::to_string(bad));
    check_throws<IndexError>([&] { scatter_add(x, 1, index, source); },
                             "[scatter_add] expected indices in 0..2, got " + std::to_string(bad));
  }
}

TEST_CASE("gather and scatter_add refuse shapes that do not fit") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6}), source = array({1, 2}, {1, 2});
  const IndexArray flat = indices({2}, {0, 1}), tall = indices({3, 1}, {0, 0, 0}), one = indices({1, 1}, {0});
  check_throws<ShapeError>([&] { gather(x, 1, flat); }, "[gather] expected an index within");
  check_throws<ShapeError>([&] { gather(x, 1, tall); },
                           "expected an index within (2,3) except along axis 1, got (3,1)");
  check_equal(gather(x, 0, tall).value(), array({3, 1}, {1, 1, 1}));
  check_throws<ShapeError>([&] { gather(x, 2, one); }, "[gather] expected an axis of shape");
  check_throws<ShapeError>([&] { scatter_add(x, 0, one, source); }, "[scatter_add] expected a source of shape");
}

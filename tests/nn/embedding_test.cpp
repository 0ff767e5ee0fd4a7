#include <xtape/nn/embedding.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("Embedding: returns a row for each id, for ids of any shape") {
  ParamStore store;
  Embedding layer(store.root(), 3, 2);
  layer.weight.set_value(array({3, 2}, {1, 2, 3, 4, 5, 6}));
  check_equal(layer(IndexArray{{2, 0}, {1, 1}}).value(), array({2, 2, 2}, {5, 6, 1, 2, 3, 4, 3, 4}));
  CHECK(layer(empty_array<IndexArray>({0})).shape() == Shape{0, 2});
}

TEST_CASE("Embedding: starts standard normal and has one parameter, `weight`") {
  ParamStore store(6);
  Embedding layer(store.root() / "tokens", 200, 100);
  CHECK(store.entries().size() == 1);
  CHECK(store.parameter("tokens.weight").shape() == Shape{200, 100});
  double squares = 0;
  for (real v : layer.weight.value()) squares += static_cast<double>(v) * static_cast<double>(v);
  check_near(squares / 20000, 1, {0.05, 0});
  Embedding own(store.root() / "own", 3, 2, {.init = init::constant(0.5)});
  check_equal(own(IndexArray{1}).value(), array({1, 2}, {0.5, 0.5}));
}

TEST_CASE("Embedding: the padding row starts at zero and gets no gradient; repeated ids sum their gradients") {
  ParamStore store;
  Embedding layer(store.root(), 4, 2, {.padding = 1});
  check_equal(layer(IndexArray{1}).value(), array({1, 2}, {0, 0}));
  Tape tape;
  tape.backward(sum(layer(IndexArray{3, 1, 3, 0})));
  check_equal(layer.weight.grad(), array({4, 2}, {1, 1, 0, 0, 0, 0, 2, 2}));
}

TEST_CASE("Embedding refuses invalid sizes, padding rows and ids") {
  ParamStore store;
  check_throws<ValueError>([&] { Embedding layer(store.root() / "a", 0, 2); },
                           "[embedding a] expected sizes of at least 1, got");
  check_throws<ValueError>([&] { Embedding layer(store.root() / "a", 2, 0); }, "got 2 and 0");
  check_throws<ValueError>([&] { Embedding layer(store.root() / "a", 4, 2, {.padding = 4}); }, "in 0..3, got ");
  check_throws<ValueError>([&] { Embedding layer(store.root() / "a", 4, 2, {.padding = -3}); },
                           "a padding row in 0..3, got -3");
  CHECK(store.entries().empty());
  Embedding layer(store.root(), 5, 2);
  for (index_t bad : {index_t{-1}, index_t{5}, index_t{1} << 31})
    check_throws<IndexError>([&] { layer(IndexArray{0, bad}); }, std::to_string(bad));
}

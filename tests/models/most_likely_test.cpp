#include <xtape/models/most_likely.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the most likely: the first of the largest, and NaN counts as minus infinity") {
  CHECK(most_likely(std::vector<double>{1, 3, 3, 2}) == 1);
  CHECK(most_likely(std::vector<double>{kNaN, -2, kNaN, -kInf}) == 1);
  CHECK(most_likely(std::vector<double>{-kInf, kNaN, -1e300}) == 2);
  const Tensor logits(array({2, 2, 3}, {1, 2, 0, kNaN, -5, -kInf, 7, 7, 7, 0, 0, 1}));
  CHECK(most_likely_of_rows(logits) == std::vector<index_t>{1, 1, 0, 2});
  CHECK(most_likely_of_rows(Tensor(empty_array({0, 3}))).empty());
}

TEST_CASE("no class is the most likely where there is no distribution") {
  for (const std::vector<double>& logits :
       std::vector<std::vector<double>>{{}, {kNaN}, {kNaN, kNaN}, {-kInf, -kInf}, {kNaN, -kInf}, {0, kInf}})
    check_throws<ValueError>([&] { most_likely(logits); }, "[most_likely] expected a");
  check_throws<ValueError>([] { most_likely_of_rows(Tensor(array({2, 2}, {0, 1, kNaN, kNaN}))); }, "got NaN");
  check_throws<ValueError>([] { most_likely_of_rows(Tensor(empty_array({2, 0}))); },
                           "expected a distribution over at least 1 class, got 0");
  check_throws<ShapeError>([] { most_likely_of_rows(Tensor::scalar(1)); }, "");
}

#include <xtape/data/sequences.hpp>

#include <xtape/core/error.hpp>

#include "support.hpp"

#include <set>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("groups of items: in order, the last one smaller") {
  CHECK(groups_of(2, std::vector<int>{1, 2, 3, 4, 5}) == std::vector<std::vector<int>>{{1, 2}, {3, 4}, {5}});
  CHECK(groups_of(5, std::vector<int>{1, 2, 3, 4, 5}) == std::vector<std::vector<int>>{{1, 2, 3, 4, 5}});
  CHECK(groups_of(6, std::vector<int>{1}) == std::vector<std::vector<int>>{{1}});
  CHECK(groups_of(1, std::vector<int>{}).empty());
  check_throws<ValueError>([] { groups_of(0, std::vector<int>{1}); }, "[groups_of] expected groups of at least 1 item");
}

TEST_CASE("padded: sequences side by side, filled on the right") {
  const PaddedSequences out = padded({{5, 6}, {}, {7}}, -100);
  CHECK(out.ids == indices({3, 2}, {5, 6, -100, -100, 7, -100}));
  CHECK(out.lengths == IndexArray{2, 0, 1});
  CHECK(out.padding == mask({3, 2}, {false, false, true, true, false, true}));
  check_throws<ValueError>([] { padded({}, 0); }, "[padded] expected at least 1 sequence, got 0");
}

TEST_CASE("shuffled: every number once, in an order that the seed alone decides") {
  const std::vector<index_t> order = shuffled(1000, 3, 4);
  CHECK(std::set<index_t>(order.begin(), order.end()).size() == 1000);
  CHECK(order == shuffled(1000, 3, 4));
  CHECK(order != shuffled(1000, 4, 4));
  CHECK(order != shuffled(1000, 3, 5));
  CHECK(shuffled(0, 1, 1).empty());
}

TEST_CASE("LengthBatches: every item once an epoch, batches of similar length, the same for the same step") {
  std::vector<index_t> lengths;
  for (index_t i = 0; i < 1003; ++i) lengths.push_back(i * i % 50);
  const LengthBatches batches(lengths, 10, 7);
  CHECK(batches.batches() == 101);
  double spread = 0;
  for (index_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<index_t> seen;
    for (index_t i = 0; i < 101; ++i) {
      const std::vector<index_t> items = batches.at(epoch * 101 + i);
      seen.insert(items.begin(), items.end());
      index_t least = 50, most = 0;
      for (index_t item : items) {
        least = std::min(least, lengths[item]);
        most = std::max(most, lengths[item]);
      }
      spread += static_cast<double>(most - least) / 202;
    }
    CHECK(seen.size() == 1003);
    CHECK(std::set<index_t>(seen.begin(), seen.end()).size() == 1003);
  }
  CHECK(spread < 5);
  const std::vector<index_t> fifth = batches.at(5);
  CHECK(fifth != batches.at(106));
  CHECK(fifth == LengthBatches(lengths, 10, 7).at(5));
  CHECK(fifth != LengthBatches(lengths, 10, 8).at(5));
  check_throws<ValueError>([] { LengthBatches({}, 1, 0); }, "[length_batches] expected items");
  check_throws<ValueError>([] { LengthBatches({1}, 0, 0); }, "a batch of at least 1");
  check_throws<ValueError>([&] { batches.at(-1); }, "expected a step of at least 0, got ");
}

TEST_CASE("edit_distance: insertions, deletions and substitutions") {
  CHECK(edit_distance({}, {}) == 0);
  CHECK(edit_distance({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(edit_distance({}, {1, 2}) == 2);
  CHECK(edit_distance({1, 2, 3}, {1, 3}) == 1);
  CHECK(edit_distance({1, 2, 3}, {1, 4, 3}) == 1);
  CHECK(edit_distance({10, 8, 19, 19, 4, 13}, {18, 8, 19, 19, 8, 13, 6}) == 3);  // kitten, sitting
}

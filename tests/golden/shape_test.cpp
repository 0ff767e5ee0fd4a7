// Ops that move or select elements against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

GoldenTable moves() {
  return {
      {"reshape/matrix", [](Golden& g) { return reshape(g.in("x"), {3, 4}); }},
      {"reshape/of a transpose", [](Golden& g) { return reshape(transpose(g.in("x")), {2, -1}); }},
      {"permute/all axes", [](Golden& g) { return permute(g.in("x"), {2, 0, 1}); }},
      {"permute/heads", [](Golden& g) { return permute(g.in("x"), {0, 2, 1, 3}); }},
      {"transpose/last two", [](Golden& g) { return transpose(g.in("x")); }},
      {"transpose/outer", [](Golden& g) { return transpose(g.in("x"), 0, 2); }},
      {"slice/middle axis", [](Golden& g) { return slice(g.in("x"), 1, 1, 3); }},
      {"slice/step", [](Golden& g) { return slice(g.in("x"), -1, 1, kEnd, 2); }},
      {"slice/from the end", [](Golden& g) { return slice(g.in("x"), 0, -3, -1); }},
      {"concat/middle axis", [](Golden& g) { return concat({g.in("a"), g.in("b")}, 1); }},
      {"concat/three", [](Golden& g) { return concat({g.in("a"), g.in("b"), g.in("c")}, -1); }},
      {"concat/one part twice", [](Golden& g) { return concat({g.in("a"), g.in("a")}, 0); }},
      {"stack/first axis", [](Golden& g) { return stack({g.in("a"), g.in("b")}); }},
      {"stack/last axis", [](Golden& g) { return stack({g.in("a"), g.in("b"), g.in("c")}, -1); }},
      {"split/equal", [](Golden& g) { return split(g.in("x"), 2, 1); }},
      {"split/shorter last piece", [](Golden& g) { return split(g.in("x"), 2); }},
      {"split_with_sizes/last axis", [](Golden& g) { return split_with_sizes(g.in("x"), {1, 3, 2}, -1); }},
      {"squeeze/all", [](Golden& g) { return squeeze(g.in("x")); }},
      {"squeeze/one axis", [](Golden& g) { return squeeze(g.in("x"), {1}); }},
      {"unsqueeze/middle", [](Golden& g) { return unsqueeze(g.in("x"), 1); }},
      {"unsqueeze/end", [](Golden& g) { return unsqueeze(g.in("x"), -1); }},
      {"broadcast_to/rows and new axis", [](Golden& g) { return broadcast_to(g.in("x"), {4, 2, 3}); }},
      {"flip/one axis", [](Golden& g) { return flip(g.in("x"), {1}); }},
      {"flip/two axes", [](Golden& g) { return flip(g.in("x"), {0, -1}); }},
      {"flip/all", [](Golden& g) { return flip(g.in("x")); }},
  };
}

GoldenTable picks() {
  const auto gathered = [](index_t axis) {
    return [axis](Golden& g) { return gather(g.in("x"), axis, g.integers("index")); };
  };
  const auto scattered = [](index_t axis) {
    return [axis](Golden& g) { return scatter_add(g.in("x"), axis, g.integers("index"), g.in("source")); };
  };
  return {
      {"gather/middle axis", gathered(1)},
      {"gather/last axis", gathered(-1)},
      {"scatter_add/middle axis", scattered(1)},
      {"scatter_add/last axis", scattered(2)},
      {"embedding/repeated rows", [](Golden& g) { return embedding(g.in("weight"), g.integers("ids")); }},
      {"embedding/padding row", [](Golden& g) { return embedding(g.in("weight"), g.integers("ids"), 0); }},
  };
}

}  // namespace

GoldenTable shape_golden_cases() { return joined({moves(), picks()}); }

TEST_CASE("ops that move or select elements agree with golden values") { check_golden(shape_golden_cases()); }

}  // namespace xtape::test

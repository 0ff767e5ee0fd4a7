// Matrix products against golden values.
#include "tables.hpp"

namespace xtape::test {

GoldenTable linear_algebra_golden_cases() {
  GoldenTable table = {
      {"matmul/transpose a", [](Golden& g) { return matmul(g.in("a"), g.in("b"), {.transpose_a = true}); }},
      {"matmul/transpose b", [](Golden& g) { return matmul(g.in("a"), g.in("b"), {.transpose_b = true}); }},
      {"matmul/transpose both",
       [](Golden& g) { return matmul(g.in("a"), g.in("b"), {.transpose_a = true, .transpose_b = true}); }},
      {"dot/vectors", [](Golden& g) { return dot(g.in("a"), g.in("b")); }},
      {"outer/vectors", [](Golden& g) { return outer(g.in("a"), g.in("b")); }},
      {"linear/no bias", [](Golden& g) { return linear(g.in("x"), g.in("weight")); }},
  };
  for (const char* title : {"matrices", "batches", "batches broadcast", "one matrix for all", "row on the left",
                            "column on the right", "two vectors", "larger than a tile"})
    table.push_back({std::string("matmul/") + title, [](Golden& g) { return matmul(g.in("a"), g.in("b")); }});
  for (const char* title : {"matrix", "batch", "vector"})
    table.push_back(
        {std::string("linear/") + title, [](Golden& g) { return linear(g.in("x"), g.in("weight"), g.in("bias")); }});
  for (const char* equation :
       {"ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "btc,oc->bto", "bthd,bshd->bhts", "bhts,bshd->bthd",
        "ij,j->i", "i,j->ij", "i,i->", "bi,bi->b", "ij,ij->", "ij,ij->ij", "ijk,j->k"})
    table.push_back(
        {std::string("einsum/") + equation, [equation](Golden& g) { return einsum(equation, g.in("a"), g.in("b")); }});
  return table;
}

TEST_CASE("matrix products agree with golden values") { check_golden(linear_algebra_golden_cases()); }

}  // namespace xtape::test

// Reductions and softmax against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

using Reducer = std::function<Tensor(const Tensor& x, const Axes& axes, bool keep_dims)>;

void add_reduction(GoldenTable& table, const std::string& op, const Reducer& reduce) {
  const auto over = [&](const char* title, const Axes& axes, bool keep_dims = false) {
    table.push_back({op + "/" + title, [=](Golden& g) { return reduce(g.in("x"), axes, keep_dims); }});
  };
  over("all", {});
  over("first axis", {0});
  over("last axis, kept", {-1}, true);
  over("first and last", {0, 2});
  over("long rows", {1});
}

void add_softmax(GoldenTable& table, const std::string& op, Tensor (*function)(const Tensor&, index_t)) {
  const auto along = [&](const char* title, index_t axis) {
    table.push_back({op + "/" + title, [=](Golden& g) { return function(g.in("x"), axis); }});
  };
  along("last axis", -1);
  along("first axis", 0);
  along("middle axis", 1);
  along("wider than the lanes", -1);
  along("large", -1);
}

}  // namespace

GoldenTable reduce_golden_cases() {
  GoldenTable table = {
      {"var/biased", [](Golden& g) { return var(g.in("x"), {1}, false, 0); }},
      {"stddev/biased", [](Golden& g) { return stddev(g.in("x"), {1}, false, 0); }},
      {"logsumexp/large", [](Golden& g) { return logsumexp(g.in("x"), {1}); }},
      {"cumsum/first axis", [](Golden& g) { return cumsum(g.in("x"), 0); }},
      {"cumsum/last axis", [](Golden& g) { return cumsum(g.in("x"), -1); }},
  };
  add_reduction(table, "sum", sum);
  add_reduction(table, "mean", mean);
  add_reduction(table, "max", max);
  add_reduction(table, "min", min);
  add_reduction(table, "var", [](const Tensor& x, const Axes& axes, bool keep) { return var(x, axes, keep); });
  add_reduction(table, "stddev", [](const Tensor& x, const Axes& axes, bool keep) { return stddev(x, axes, keep); });
  add_reduction(table, "norm", norm);
  add_reduction(table, "logsumexp", logsumexp);
  add_softmax(table, "softmax", softmax);
  add_softmax(table, "log_softmax", log_softmax);
  return table;
}

TEST_CASE("reductions and softmax agree with golden values") { check_golden(reduce_golden_cases()); }

}  // namespace xtape::test

// Sums, means, extremes and other reductions over random axes; ops along one axis.
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xtape::fuzz {

namespace {

using Group = std::vector<double>;

double total(const Group& g) { return std::accumulate(g.begin(), g.end(), 0.0); }

double variance(const Group& g, double correction) {
  const double mean = total(g) / static_cast<double>(g.size());
  double squares = 0;
  for (double x : g) squares += (x - mean) * (x - mean);
  return squares / (static_cast<double>(g.size()) - correction);
}

double log_sum_exp(const Group& g) {
  double sum = 0;
  for (double x : g) sum += std::exp(x);
  return std::log(sum);
}

struct Reduction {
  const char* name;
  Tensor (*op)(const Tensor&, const Axes&, bool);
  double (*f)(const Group&);
  std::size_t least = 0;  ///< smallest number of elements in a group that gives a result
};

const Reduction kReductions[] = {
    {"sum", sum, total},
    {"mean", mean, [](const Group& g) { return total(g) / static_cast<double>(g.size()); }, 1},
    {"max", max, [](const Group& g) { return *std::max_element(g.begin(), g.end()); }, 1},
    {"min", min, [](const Group& g) { return *std::min_element(g.begin(), g.end()); }, 1},
    {"var", [](const Tensor& x, const Axes& a, bool k) { return var(x, a, k); },
     [](const Group& g) { return variance(g, 1); }, 2},
    {"stddev biased", [](const Tensor& x, const Axes& a, bool k) { return stddev(x, a, k, 0); },
     [](const Group& g) { return std::sqrt(variance(g, 0)); }, 1},
    {"norm", norm, [](const Group& g) { return std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.0)); }},
    {"logsumexp", logsumexp, log_sum_exp},
};

/// Replaces the elements of each line of x along an axis by f(line).
Plain along(const Plain& x, std::int64_t axis, const std::function<Group(const Group&)>& f) {
  return plain(x.shape, [&](const Index& index) {
    Group line;
    Index place = index;
    for (place[axis] = 0; place[axis] < x.shape[axis]; ++place[axis]) line.push_back(x.at(place));
    return f(line)[index[axis]];
  });
}

Group softmax_of(const Group& g) {
  Group out;
  for (double x : g) out.push_back(std::exp(x - log_sum_exp(g)));
  return out;
}

void try_line(Choices& choices, const Plain& x) {
  const std::int64_t axis = choices.axis(x.rank()), kind = choices.below(3);
  const auto place = named_axis_of(axis, x.rank());
  const auto want = [&](const std::function<Group(const Group&)>& f) -> std::optional<Plain> {
    if (!place) return std::nullopt;
    return Plain{x.shape, along(as_line(x), *place, f).values};
  };
  if (kind == 0) return check("softmax", {x}, [&](const auto& t) { return softmax(t[0], axis); }, want(softmax_of));
  if (kind == 1)
    return check(
        "log_softmax", {x}, [&](const auto& t) { return log_softmax(t[0], axis); }, want([](const Group& g) {
          Group out = softmax_of(g);
          for (double& y : out) y = std::log(y);
          return out;
        }));
  check(
      "cumsum", {x}, [&](const auto& t) { return cumsum(t[0], axis); }, want([](const Group& g) {
        Group out(g.size());
        std::partial_sum(g.begin(), g.end(), out.begin());
        return out;
      }));
}

void try_position(Choices& choices, const Plain& x) {
  const std::int64_t axis = choices.axis(x.rank());
  const bool keep = choices.yes(), largest = choices.yes();
  std::optional<Plain> want;
  if (const auto place = named_axis_of(axis, x.rank()); place && as_line(x).shape[*place] > 0) {
    std::vector<bool> axes(x.shape.size());
    if (!axes.empty()) axes[*place] = true;
    want = reduce(x, axes, keep, [&](const Group& g) {
      const auto best = largest ? std::max_element(g.begin(), g.end()) : std::min_element(g.begin(), g.end());
      return static_cast<double>(best - g.begin());
    });
  }
  check_plain(
      largest ? "argmax" : "argmin",
      [&] {
        const Tensor t(array_of(x));
        return plain_of(largest ? argmax(t, axis, keep) : argmin(t, axis, keep));
      },
      want);
}

}  // namespace

void try_reduction(Choices& choices) {
  const std::int64_t kind = choices.below(4);
  const Plain x = choices.numbers(choices.shape());
  if (kind == 1) return try_line(choices, x);
  if (kind == 2) return try_position(choices, x);
  const Reduction& c = kReductions[choices.below(std::size(kReductions))];
  const Axes axes = choices.axes(x.rank());
  const bool keep = choices.yes();
  std::optional<Plain> want;
  if (const auto named = axes_of(axes, x.rank())) {
    std::size_t smallest = 1;
    for (std::size_t i = 0; i < named->size(); ++i)
      if ((*named)[i]) smallest *= static_cast<std::size_t>(x.shape[i]);
    if (smallest >= c.least) want = reduce(x, *named, keep, c.f);
  }
  check(c.name, {x}, [&](const auto& t) { return c.op(t[0], axes, keep); }, want);
}

}  // namespace xtape::fuzz

// Conversion between columns and heads, rotary positions, and kernel features.
#include "check.hpp"

#include <cmath>

namespace xtape::fuzz {

namespace {

void try_join(Choices&, const Plain& x) {
  std::optional<Plain> want;
  if (x.rank() == 4)
    want = plain({x.shape[0], x.shape[2], x.shape[1] * x.shape[3]},
                 [&](const Index& i) { return x.at({i[0], i[2] / x.shape[3], i[1], i[2] % x.shape[3]}); });
  check("join_heads", {x}, [](const auto& t) { return join_heads(t[0]); }, want);
}

void try_split(Choices& choices, const Plain& x) {
  const std::int64_t first = choices.within(-1, 3), heads = choices.within(1, 3), width = choices.within(0, 4);
  std::optional<Plain> want;
  if (x.rank() == 3 && first >= 0 && first + heads * width <= x.shape[2])
    want = plain({x.shape[0], heads, x.shape[1], width},
                 [&](const Index& i) { return x.at({i[0], i[2], first + i[1] * width + i[3]}); });
  check("split_heads", {x}, [&](const auto& t) { return split_heads(t[0], first, heads, width); }, want);
}

void try_rotary(Choices& choices, const Plain& x) {
  static constexpr double kBases[] = {10000, 1, 0.5, 0, -2, INFINITY, NAN};
  RotaryOptions options;
  options.offset = choices.within(0, 7);
  options.base = kBases[choices.yes() ? 0 : choices.below(7)];
  const bool each = choices.yes();
  Plain offsets = choices.numbers({x.rank() > 0 ? choices.mostly(x.shape[0]) : 1});
  for (double& first : offsets.values) first = std::floor((first + 2) * 4);
  if (each) options.offsets = indices_of(offsets);
  std::optional<Plain> want;
  if (x.rank() == 4 && x.shape[3] % 2 == 0 && options.base > 0 && std::isfinite(options.base) &&
      (!each || offsets.shape[0] == x.shape[0]))
    want = plain(x.shape, [&](const Index& i) {
      const double position =
          static_cast<double>(i[2]) + (each ? offsets.values[i[0]] : static_cast<double>(options.offset));
      const std::int64_t pair = i[3] / 2;
      const double angle =
          position * std::pow(options.base, -2.0 * static_cast<double>(pair) / static_cast<double>(x.shape[3]));
      const double even = x.at({i[0], i[1], i[2], 2 * pair}), odd = x.at({i[0], i[1], i[2], 2 * pair + 1});
      return i[3] % 2 == 0 ? even * std::cos(angle) - odd * std::sin(angle)
                           : even * std::sin(angle) + odd * std::cos(angle);
    });
  check("rotary", {x}, [&](const auto& t) { return rotary(t[0], options); }, want);
}

void try_quadratic(Choices&, const Plain& x) {
  std::optional<Plain> want;
  if (x.rank() > 0) {
    const std::int64_t width = x.shape.back();
    Dimensions shape = x.shape;
    shape.back() = (width + 1) * (width + 2) / 2;
    if (count_of(shape) > 10000) return;
    want = plain(shape, [&](Index i) {
      const auto at = [&](std::int64_t place) {
        i.back() = place;
        return x.at(i);
      };
      std::int64_t feature = i.back();
      if (feature-- == 0) return 1.0;
      if (feature < width) return std::sqrt(2.0) * at(feature);
      feature -= width;
      std::int64_t row = 0;
      for (; feature >= width - row; ++row) feature -= width - row;
      return (feature == 0 ? 1 : std::sqrt(2.0)) * at(row) * at(row + feature);
    });
  }
  check("quadratic_features", {x}, [](const auto& t) { return quadratic_features(t[0]); }, want);
}

}  // namespace

void try_heads(Choices& choices) {
  static constexpr void (*kOps[])(Choices&, const Plain&) = {try_join, try_split, try_rotary, try_quadratic};
  const std::int64_t which = choices.below(4), rank = which == 1 ? 3 : 4;
  kOps[which](choices, choices.numbers(choices.below(4) == 1 ? choices.shape() : choices.shape_of(rank)));
}

}  // namespace xtape::fuzz

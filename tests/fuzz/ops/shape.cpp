// Ops that move elements.
#include "check.hpp"

#include <algorithm>
#include <limits>

namespace xtape::fuzz {

namespace {

void try_reshape(Choices& choices, const Plain& x) {
  Dimensions shape;
  std::int64_t left = count_of(x.shape), unknown = 0;
  for (std::int64_t n = choices.below(4); n > 0; --n) {
    const std::int64_t size = choices.within(-1, 4);
    shape.push_back(size);
    if (size < 0) ++unknown;
    else if (size > 0 && left % size == 0) left /= size;
  }
  if (choices.yes()) shape.push_back(left);
  Dimensions full = shape;
  const auto hole = std::find(full.begin(), full.end(), -1);
  bool possible = unknown <= 1;
  if (possible && hole != full.end()) {
    *hole = 1;
    const std::int64_t others = count_of(full);
    possible = others > 0 && count_of(x.shape) % others == 0;
    if (possible) *hole = count_of(x.shape) / others;
  }
  possible = possible && count_of(full) == count_of(x.shape);
  check(
      "reshape", {x}, [&](const auto& t) { return reshape(t[0], shape_of(shape)); },
      possible ? std::optional(Plain{full, x.values}) : std::nullopt);
}

/// Permutes the axes: axis i of the result is axis axes[i] of x.
Plain permuted(const Plain& x, const Dimensions& axes) {
  Dimensions shape;
  for (std::int64_t axis : axes) shape.push_back(x.shape[axis]);
  return plain(shape, [&](const Index& index) {
    Index from(index.size());
    for (std::size_t i = 0; i < axes.size(); ++i) from[axes[i]] = index[i];
    return x.at(from);
  });
}

void try_permute(Choices& choices, const Plain& x) {
  Dimensions axes;
  for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  if (choices.yes()) {
    const std::int64_t a = choices.axis(x.rank()), b = choices.axis(x.rank());
    const auto first = named_axis_of(a, x.rank()), second = named_axis_of(b, x.rank());
    if (first && second && first != second) std::swap(axes[*first], axes[*second]);
    return check(
        "transpose", {x}, [&](const auto& t) { return transpose(t[0], a, b); },
        first && second ? std::optional(permuted(x, axes)) : std::nullopt);
  }
  for (std::size_t i = axes.size(); i > 1; --i)
    std::swap(axes[i - 1], axes[choices.below(static_cast<std::int64_t>(i))]);
  Dimensions given = axes;
  bool possible = true;
  if (choices.below(4) == 1 && !given.empty()) {
    given[choices.below(x.rank())] = choices.axis(x.rank());
    std::vector<bool> seen(axes.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto place = axis_of(given[i], x.rank());
      possible = possible && place && !seen[*place];
      if (possible) axes[i] = *place, seen[*place] = true;
    }
  }
  check(
      "permute", {x}, [&](const auto& t) { return permute(t[0], given); },
      possible ? std::optional(permuted(x, axes)) : std::nullopt);
}

void try_slice(Choices& choices, const Plain& x) {
  const std::int64_t axis = choices.axis(x.rank()), begin = choices.within(-6, 6),
                     step = choices.below(16) == 1 ? std::numeric_limits<std::int64_t>::max() : choices.within(0, 3);
  const std::int64_t end = choices.yes() ? kEnd : choices.within(-6, 6);
  std::optional<Plain> want;
  if (const auto place = axis_of(axis, x.rank()); place && step > 0) {
    const std::int64_t size = x.shape[*place];
    const std::int64_t first = begin < 0 ? begin + size : begin, last = end == kEnd ? size : end < 0 ? end + size : end;
    if (first >= 0 && first <= size && last >= 0 && last <= size) {
      Dimensions shape = x.shape;
      shape[*place] = last > first ? (last - first - 1) / step + 1 : 0;
      want = plain(shape, [&](Index index) {
        index[*place] = first + index[*place] * step;
        return x.at(index);
      });
      // A begin after the end may be refused or give an empty tensor, but nothing else.
      if (last < first) {
        try {
          if (slice(Tensor(array_of(x)), axis, begin, end, step).numel() == 0) return;
        } catch (const Error&) {
          return;
        }
      }
    }
  }
  check("slice", {x}, [&](const auto& t) { return slice(t[0], axis, begin, end, step); }, want);
}

void try_join(Choices& choices, const Plain& x) {
  std::vector<Plain> parts = {x};
  for (std::int64_t n = choices.below(3); n > 0; --n)
    parts.push_back(choices.numbers(choices.below(4) == 1 ? choices.like(x.shape) : x.shape));
  const bool side_by_side = choices.yes();
  const std::int64_t rank = x.rank() + (side_by_side ? 1 : 0), axis = choices.axis(rank);
  const auto place = axis_of(axis, rank);
  bool possible = place.has_value();
  Dimensions shape = x.shape;
  if (possible && side_by_side) shape.insert(shape.begin() + *place, 0);
  std::vector<Index> owner;  // part, and position in it, of each position along the axis
  for (std::size_t i = 0; possible && i < parts.size(); ++i) {
    Dimensions other = parts[i].shape;
    if (side_by_side) possible = other == x.shape;
    else possible = other.size() == shape.size();
    if (!possible) break;
    const std::int64_t size = side_by_side ? 1 : other[*place];
    if (!side_by_side) {
      other[*place] = x.shape[*place];
      possible = other == x.shape;
    }
    for (std::int64_t p = 0; p < size; ++p) owner.push_back({static_cast<std::int64_t>(i), p});
  }
  std::optional<Plain> want;
  if (possible) {
    shape[*place] = static_cast<std::int64_t>(owner.size());
    want = plain(shape, [&](Index index) {
      const Index& from = owner[index[*place]];
      if (side_by_side) index.erase(index.begin() + *place);
      else index[*place] = from[1];
      return parts[from[0]].at(index);
    });
  }
  check(
      side_by_side ? "stack" : "concat", parts,
      [&](const auto& t) { return side_by_side ? stack(t, axis) : concat(t, axis); }, want);
}

void try_split(Choices& choices, const Plain& x) {
  const std::int64_t axis = choices.axis(x.rank()), size = choices.within(0, 5), which = choices.below(3);
  std::optional<Plain> want;
  if (const auto place = axis_of(axis, x.rank()); place && size > 0) {
    const std::int64_t whole = x.shape[*place], first = which * size;
    if (first >= std::max<std::int64_t>(whole, 1)) return;  // there is no such piece
    Dimensions shape = x.shape;
    shape[*place] = std::min(size, whole - first);
    want = plain(shape, [&](Index index) {
      index[*place] += first;
      return x.at(index);
    });
  }
  check("split", {x}, [&](const auto& t) { return split(t[0], size, axis).at(static_cast<std::size_t>(which)); }, want);
}

void try_split_with_sizes(Choices& choices, const Plain& x) {
  const std::int64_t axis = choices.axis(x.rank()), which = choices.below(3);
  const auto place = axis_of(axis, x.rank());
  Axes sizes;
  std::int64_t left = place ? x.shape[*place] : choices.within(0, 4);
  for (std::int64_t n = choices.below(3); n > 0; --n) {
    sizes.push_back(choices.within(0, left));
    left -= sizes.back();
  }
  bool sound = place && left == 0;
  const std::int64_t last = choices.below(8);
  if (last == 1) sizes.push_back(-1);
  if (last == 2) sizes.push_back(left + 1);
  if (last == 1 || last == 2) {
    sound = false;
  } else if (last > 3) {
    sizes.push_back(left);
    sound = place.has_value();
  }
  if (sound && which >= static_cast<std::int64_t>(sizes.size())) return;  // there is no such piece
  std::optional<Plain> want;
  if (sound) {
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < which; ++i) first += sizes[i];
    Dimensions shape = x.shape;
    shape[*place] = sizes[which];
    want = plain(shape, [&](Index index) {
      index[*place] += first;
      return x.at(index);
    });
  }
  check(
      "split_with_sizes", {x},
      [&](const auto& t) { return split_with_sizes(t[0], sizes, axis).at(static_cast<std::size_t>(which)); }, want);
}

void try_dimensions(Choices& choices, const Plain& x) {
  const std::int64_t kind = choices.below(3);
  if (kind == 0) {
    const std::int64_t axis = choices.axis(x.rank() + 1);
    const auto place = axis_of(axis, x.rank() + 1);
    Dimensions shape = x.shape;
    if (place) shape.insert(shape.begin() + *place, 1);
    return check(
        "unsqueeze", {x}, [&](const auto& t) { return unsqueeze(t[0], axis); },
        place ? std::optional(Plain{shape, x.values}) : std::nullopt);
  }
  const Axes axes = choices.axes(x.rank());
  const auto named = axes_of(axes, x.rank());
  if (kind == 1) {
    bool possible = named.has_value();
    Dimensions shape;
    for (std::size_t i = 0; possible && i < x.shape.size(); ++i) {
      if (!axes.empty() && (*named)[i] && x.shape[i] != 1) possible = false;
      if (!(*named)[i] || x.shape[i] != 1) shape.push_back(x.shape[i]);
    }
    return check(
        "squeeze", {x}, [&](const auto& t) { return squeeze(t[0], axes); },
        possible ? std::optional(Plain{shape, x.values}) : std::nullopt);
  }
  std::optional<Plain> want;
  if (named)
    want = plain(x.shape, [&](Index index) {
      for (std::size_t i = 0; i < index.size(); ++i)
        if ((*named)[i]) index[i] = x.shape[i] - 1 - index[i];
      return x.at(index);
    });
  check("flip", {x}, [&](const auto& t) { return flip(t[0], axes); }, want);
}

void try_broadcast(Choices& choices, const Plain& x) {
  const Dimensions shape = choices.yes() ? choices.shape() : choices.like(x.shape);
  const auto together = broadcast(x.shape, shape);
  std::optional<Plain> want;
  if (together == shape) want = plain(shape, [&](const Index& index) { return x.at(index); });
  check("broadcast_to", {x}, [&](const auto& t) { return broadcast_to(t[0], shape_of(shape)); }, want);
}

}  // namespace

void try_shape(Choices& choices) {
  static constexpr void (*kOps[])(Choices&, const Plain&) = {
      try_reshape, try_permute, try_slice, try_join, try_split, try_split_with_sizes, try_dimensions, try_broadcast};
  const std::int64_t which = choices.below(std::size(kOps));
  kOps[which](choices, choices.numbers(choices.shape()));
}

}  // namespace xtape::fuzz

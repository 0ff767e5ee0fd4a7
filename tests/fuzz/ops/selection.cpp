// Selection of elements by masks and by indices.
#include "check.hpp"

namespace xtape::fuzz {

namespace {

void try_where(Choices& choices) {
  const Dimensions shape = choices.shape();
  const Plain mask = choices.numbers(choices.like(shape)), a = choices.numbers(choices.like(shape)),
              b = choices.numbers(choices.like(shape));
  std::optional<Plain> want;
  if (const auto pair = broadcast(a.shape, b.shape))
    if (const auto all = broadcast(*pair, mask.shape))
      want = plain(*all, [&](const Index& i) { return mask.at(i) > 0 ? a.at(i) : b.at(i); });
  check(
      "where " + shape_text(mask.shape), {a, b}, [&](const auto& t) { return where(mask_of(mask), t[0], t[1]); }, want);
}

void try_masked_fill(Choices& choices) {
  const Dimensions shape = choices.shape();
  const Plain x = choices.numbers(shape), mask = choices.numbers(choices.yes() ? choices.like(shape) : choices.shape());
  std::optional<Plain> want;
  if (broadcast(x.shape, mask.shape) == x.shape)
    want = plain(x.shape, [&](const Index& i) { return mask.at(i) > 0 ? 9 : x.at(i); });
  check(
      "masked_fill " + shape_text(mask.shape), {x}, [&](const auto& t) { return masked_fill(t[0], mask_of(mask), 9); },
      want);
}

/// Indices of a given shape, mostly within 0..bound-1.
Plain indices(Choices& choices, const Dimensions& shape, std::int64_t bound, bool& sound) {
  const std::int64_t wrong = choices.below(8) == 1 ? choices.below(16) : -1, value = choices.yes() ? -1 : bound;
  const Plain numbers = choices.numbers(shape);
  Plain out{shape, {}};
  for (double number : numbers.values)
    out.values.push_back(bound > 0 ? static_cast<double>(static_cast<std::int64_t>((number + 2) * 8) % bound) : 0);
  if (wrong >= 0 && wrong < static_cast<std::int64_t>(out.values.size()))
    out.values[wrong] = static_cast<double>(value);
  for (double index : out.values) sound = sound && index >= 0 && index < static_cast<double>(bound);
  return out;
}

void try_embedding(Choices& choices) {
  const Dimensions table = choices.below(6) == 1 ? choices.shape() : choices.shape_of(2);
  const Plain weight = choices.numbers(table);
  bool sound = table.size() == 2;
  Dimensions shape = choices.shape();
  if (count_of(shape) > 60) shape.resize(1);
  const Plain ids = indices(choices, shape, table.empty() ? 0 : table[0], sound);
  std::optional<Plain> want;
  if (sound) {
    Dimensions full = ids.shape;
    full.push_back(table[1]);
    want = plain(full, [&](const Index& index) {
      Index place = index;
      place.pop_back();
      return weight.at({static_cast<std::int64_t>(ids.at(place)), index.back()});
    });
  }
  check("embedding", {weight}, [&](const auto& t) { return embedding(t[0], indices_of(ids)); }, want);
}

void try_gather(Choices& choices) {
  const Dimensions shape = choices.shape();
  const Plain x = choices.numbers(shape);
  const std::int64_t axis = choices.axis(x.rank());
  const auto place = named_axis_of(axis, x.rank());
  Dimensions other = shape;
  if (choices.below(6) == 1) other = choices.shape();
  else if (place && !shape.empty()) other[*place] = choices.within(0, 6);
  if (!other.empty() && choices.below(4) == 1) other[0] = other[0] > 0 ? other[0] - 1 : 0;
  bool sound = place && other.size() == shape.size() && count_of(other) <= 4000;
  for (std::size_t i = 0; sound && i < shape.size(); ++i)
    sound = static_cast<std::int64_t>(i) == *place || other[i] <= shape[i];
  if (count_of(other) > 4000) return;
  const Plain index = indices(choices, other, place ? as_line(x).shape[*place] : 0, sound);
  const auto source_place = [&](const Index& i) {
    Index from = i;
    if (!from.empty()) from[*place] = static_cast<std::int64_t>(index.at(i));
    return from;
  };
  std::optional<Plain> want;
  if (choices.yes()) {
    if (sound) want = plain(other, [&](const Index& i) { return x.at(source_place(i)); });
    return check(
        "gather " + shape_text(other), {x}, [&](const auto& t) { return gather(t[0], axis, indices_of(index)); }, want);
  }
  const Plain source = choices.numbers(other);
  if (sound) {
    want = x;
    for_each(other, [&](const Index& i) {
      std::int64_t to = 0;
      const Index target = source_place(i);
      for (std::size_t k = 0; k < shape.size(); ++k) to = to * shape[k] + target[k];
      want->values[to] += source.at(i);
    });
  }
  check(
      "scatter_add", {x, source}, [&](const auto& t) { return scatter_add(t[0], axis, indices_of(index), t[1]); },
      want);
}

}  // namespace

void try_selection(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_where, try_masked_fill, try_embedding, try_gather};
  kOps[choices.below(4)](choices);
}

}  // namespace xtape::fuzz

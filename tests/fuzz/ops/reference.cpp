#include "reference.hpp"

#include <limits>

namespace xtape::fuzz {

namespace {

constexpr std::int64_t kMostElements = 2000;

}  // namespace

double Plain::at(const Index& index) const {
  std::int64_t place = 0;
  const std::size_t missing = index.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + (shape[i] == 1 ? 0 : index[i + missing]);
  return values.at(static_cast<std::size_t>(place));
}

std::int64_t count_of(const Dimensions& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

void for_each(const Dimensions& shape, const std::function<void(const Index&)>& f) {
  Index index(shape.size(), 0);
  for (std::int64_t n = count_of(shape); n > 0; --n) {
    f(index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

Plain plain(const Dimensions& shape, const std::function<double(const Index&)>& f) {
  Plain out{shape, {}};
  for_each(shape, [&](const Index& index) { out.values.push_back(f(index)); });
  return out;
}

std::optional<Dimensions> broadcast(const Dimensions& a, const Dimensions& b) {
  Dimensions out = a.size() > b.size() ? a : b;
  const Dimensions& shorter = a.size() > b.size() ? b : a;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = out[out.size() - 1 - i];
    const std::int64_t other = shorter[shorter.size() - 1 - i];
    if (size == 1) size = other;
    else if (other != 1 && other != size) return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> axis_of(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::int64_t> named_axis_of(std::int64_t axis, std::int64_t rank) {
  return axis_of(axis, rank == 0 ? 1 : rank);
}

std::optional<std::vector<bool>> axes_of(const Dimensions& axes, std::int64_t rank) {
  std::vector<bool> named(static_cast<std::size_t>(rank == 0 ? 1 : rank), axes.empty());
  for (std::int64_t axis : axes) {
    const auto place = named_axis_of(axis, rank);
    if (!place || named[*place]) return std::nullopt;
    named[*place] = true;
  }
  named.resize(static_cast<std::size_t>(rank));
  return named;
}

Plain as_line(Plain x) {
  if (x.shape.empty()) x.shape = {1};
  return x;
}

Plain reduce(const Plain& x, const std::vector<bool>& axes, bool keep,
             const std::function<double(const std::vector<double>&)>& f) {
  Dimensions shape;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!axes[i] || keep) shape.push_back(axes[i] ? 1 : x.shape[i]);
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(count_of(shape)));
  std::size_t element = 0;
  for_each(x.shape, [&](const Index& index) {
    std::int64_t group = 0;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (!axes[i]) group = group * x.shape[i] + index[i];
    groups[group].push_back(x.values[element++]);
  });
  Plain out{shape, {}};
  for (const auto& group : groups) out.values.push_back(f(group));
  return out;
}

std::int64_t Choices::below(std::int64_t bound) {
  if (bytes_.empty() || bound < 2) return 0;
  const auto byte = static_cast<unsigned char>(bytes_.front());
  bytes_.remove_prefix(1);
  state_ = state_ * 31 + byte;
  return byte % bound;
}

std::int64_t Choices::within(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

Dimensions Choices::shape() { return shape_of(below(5)); }

Dimensions Choices::shape_of(std::int64_t rank) {
  static constexpr std::int64_t kDimensions[] = {2, 1, 3, 0, 5, 1, 4, 7, 8, 17, 33, 65};
  Dimensions out;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t size = kDimensions[below(12)];
    out.push_back(count_of(out) * size <= kMostElements ? size : 1);
  }
  return out;
}

Dimensions Choices::like(Dimensions shape) {
  while (!shape.empty() && below(4) == 1) shape.erase(shape.begin());
  for (std::int64_t& size : shape) {
    const std::int64_t choice = below(8);
    if (choice == 1) size = 1;
    if (choice == 2) size = size % 3 + 1;
  }
  return count_of(shape) <= kMostElements ? shape : Dimensions{};
}

std::int64_t Choices::axis(std::int64_t rank) {
  static constexpr std::int64_t kFar[] = {std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max(), -13, 13};
  if (below(32) == 1) return kFar[below(4)];
  const std::int64_t last = rank == 0 ? 1 : rank;
  return within(-last - 1, last);
}

Dimensions Choices::axes(std::int64_t rank) {
  Dimensions out;
  for (std::int64_t n = below(rank + 2); n > 0; --n) out.push_back(axis(rank));
  return out;
}

Plain Choices::numbers(const Dimensions& shape) {
  below(256);
  return plain(shape, [this](const Index&) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 33 & 31) / 8 - 2;
  });
}

}  // namespace xtape::fuzz

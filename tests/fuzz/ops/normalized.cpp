// Norms over rows and channels, and losses.
#include "check.hpp"

#include <cmath>

namespace xtape::fuzz {

namespace {

constexpr double kEps = 1e-5;

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments out;
  for (double x : values) out.mean += x / static_cast<double>(values.size());
  for (double x : values) out.variance += (x - out.mean) * (x - out.mean) / static_cast<double>(values.size());
  return out;
}

/// A vector of the last extent, or sometimes of another.
Plain last_sized(Choices& choices, const Plain& x) {
  return choices.numbers({x.rank() == 0 || choices.below(8) == 1 ? choices.within(0, 4) : x.shape.back()});
}

void try_row_norm(Choices& choices) {
  const Plain x = choices.numbers(choices.shape()), gain = last_sized(choices, x), bias = last_sized(choices, x);
  const bool centred = choices.yes();
  const bool fits = x.rank() > 0 && x.shape.back() > 0 && gain.shape[0] == x.shape.back() &&
                    (!centred || bias.shape[0] == x.shape.back());
  std::optional<Plain> want;
  if (fits)
    want = plain(x.shape, [&](const Index& index) {
      std::vector<double> row;
      Index place = index;
      for (place.back() = 0; place.back() < x.shape.back(); ++place.back()) row.push_back(x.at(place));
      const Moments m = moments(row);
      const double g = gain.values[index.back()];
      if (centred) return (x.at(index) - m.mean) / std::sqrt(m.variance + kEps) * g + bias.values[index.back()];
      return x.at(index) / std::sqrt(m.variance + m.mean * m.mean + kEps) * g;
    });
  if (x.rank() > 0 && x.shape.back() == 0 && gain.shape[0] == 0) return;  // rows of nothing: nothing to compare
  if (centred)
    check(
        "layer_norm", {x, gain, bias}, [](const auto& t) { return layer_norm(t[0], t[1], t[2]); }, want);
  else
    check(
        "rms_norm", {x, gain}, [](const auto& t) { return rms_norm(t[0], t[1]); }, want);
}

void try_batch_norm(Choices& choices) {
  const Plain x = choices.numbers(choices.below(8) == 1 ? choices.shape() : choices.shape_of(choices.within(2, 3)));
  const Plain gain = last_sized(choices, x), bias = last_sized(choices, x);
  const std::int64_t channels = x.rank() > 0 ? x.shape.back() : 0;
  if (channels == 0 && (x.rank() == 2 || x.rank() == 3)) return;  // of no channels nothing can be told
  const bool fits = (x.rank() == 2 || x.rank() == 3) && gain.shape[0] == channels && bias.shape[0] == channels &&
                    count_of(x.shape) >= 2 * channels;
  std::optional<Plain> want;
  if (fits) {
    std::vector<std::vector<double>> values(channels);
    for (std::size_t i = 0; i < x.values.size(); ++i) values[i % values.size()].push_back(x.values[i]);
    want = plain(x.shape, [&](const Index& index) {
      const Moments m = moments(values[index.back()]);
      return (x.at(index) - m.mean) / std::sqrt(m.variance + kEps) * gain.values[index.back()] +
             bias.values[index.back()];
    });
  }
  check(
      "batch_norm", {x, gain, bias}, [](const auto& t) { return batch_norm(t[0], t[1], t[2]).y; }, want);
}

void try_cross_entropy(Choices& choices) {
  const Plain logits = choices.numbers(choices.shape());
  Extents shape = logits.shape;
  if (!shape.empty()) shape.pop_back();
  if (choices.below(6) == 1) shape = choices.like(shape);
  const std::int64_t classes = logits.rank() > 0 ? logits.shape.back() : 0;
  const std::int64_t ignored = choices.below(4), wrong = choices.below(8) == 1 ? classes : 0;
  Plain targets = choices.numbers(shape);
  bool sound = logits.rank() > 0 && Extents(logits.shape.begin(), logits.shape.end() - 1) == shape;
  for (std::size_t i = 0; i < targets.values.size(); ++i) {
    double& target = targets.values[i];
    target = classes > 0 ? static_cast<double>(static_cast<std::int64_t>((target + 2) * 8) % classes) : 0;
    if (i == 0 && wrong > 0) target = static_cast<double>(wrong);
    else if (ignored == 1 && i % 2 == 0) target = kIgnore;
    sound = sound && (target == kIgnore || target < static_cast<double>(classes));
  }
  if (classes == 0) return;  // over no classes: an error or the mean of no losses
  std::optional<Plain> want;
  if (sound) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < targets.values.size(); ++i) {
      if (targets.values[i] == kIgnore) continue;
      double total = 0;
      for (std::int64_t c = 0; c < classes; ++c) total += std::exp(logits.values[i * classes + c]);
      sum += std::log(total) - logits.values[i * classes + static_cast<std::size_t>(targets.values[i])];
      ++count;
    }
    want = Plain{{}, {count > 0 ? sum / count : 0}};
  }
  check(
      "cross_entropy " + shape_text(shape), {logits},
      [&](const auto& t) { return cross_entropy(t[0], indices_of(targets)); }, want);
}

void try_pointwise_loss(Choices& choices) {
  const Extents shape = choices.shape();
  const Plain a = choices.numbers(shape), b = choices.numbers(choices.below(4) == 1 ? choices.like(shape) : shape);
  const bool squared = choices.yes();
  std::optional<Plain> want;
  if (a.shape == b.shape) {
    want = Plain{{}, {0}};
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      const double d = a.values[i] - b.values[i];
      want->values[0] += (squared ? d * d : std::abs(d)) / static_cast<double>(a.values.size());
    }
  }
  check(
      squared ? "mse_loss" : "l1_loss", {a, b},
      [&](const auto& t) { return squared ? mse_loss(t[0], t[1]) : l1_loss(t[0], t[1]); }, want);
}

}  // namespace

void try_normalized(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_row_norm, try_batch_norm, try_cross_entropy, try_pointwise_loss};
  kOps[choices.below(4)](choices);
}

}  // namespace xtape::fuzz

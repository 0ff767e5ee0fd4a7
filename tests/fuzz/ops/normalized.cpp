// Norm layers over rows and channels.
#include "check.hpp"

#include <cmath>
#include <initializer_list>

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

/// A vector whose size is the last size of x, or sometimes another.
Plain last_sized(Choices& choices, const Plain& x) {
  return choices.numbers({x.rank() == 0 || choices.below(8) == 1 ? choices.within(0, 4) : x.shape.back()});
}

void try_row_norm(Choices& choices) {
  const Plain x = choices.numbers(choices.shape()), weight = last_sized(choices, x), bias = last_sized(choices, x);
  const bool subtract_mean = choices.yes();
  const bool fits = x.rank() > 0 && x.shape.back() > 0 && weight.shape[0] == x.shape.back() &&
                    (!subtract_mean || bias.shape[0] == x.shape.back());
  std::optional<Plain> want;
  if (fits)
    want = plain(x.shape, [&](const Index& index) {
      std::vector<double> row;
      Index place = index;
      for (place.back() = 0; place.back() < x.shape.back(); ++place.back()) row.push_back(x.at(place));
      const Moments m = moments(row);
      const double g = weight.values[index.back()];
      if (subtract_mean) return (x.at(index) - m.mean) / std::sqrt(m.variance + kEps) * g + bias.values[index.back()];
      return x.at(index) / std::sqrt(m.variance + m.mean * m.mean + kEps) * g;
    });
  if (subtract_mean)
    check("layer_norm", {x, weight, bias}, [](const auto& t) { return layer_norm(t[0], t[1], t[2]); }, want);
  else check("rms_norm", {x, weight}, [](const auto& t) { return rms_norm(t[0], t[1]); }, want);
}

void try_batch_norm(Choices& choices) {
  const Plain x = choices.numbers(choices.below(8) == 1 ? choices.shape() : choices.shape_of(choices.within(2, 3)));
  const Plain weight = last_sized(choices, x), bias = last_sized(choices, x);
  const std::int64_t channels = x.rank() > 0 ? x.shape.back() : 0;
  const bool fits = channels > 0 && (x.rank() == 2 || x.rank() == 3) && weight.shape[0] == channels &&
                    bias.shape[0] == channels && count_of(x.shape) >= 2 * channels;
  std::optional<Plain> want;
  if (fits) {
    std::vector<std::vector<double>> values(channels);
    for (std::size_t i = 0; i < x.values.size(); ++i) values[i % values.size()].push_back(x.values[i]);
    want = plain(x.shape, [&](const Index& index) {
      const Moments m = moments(values[index.back()]);
      return (x.at(index) - m.mean) / std::sqrt(m.variance + kEps) * weight.values[index.back()] +
             bias.values[index.back()];
    });
  }
  check("batch_norm", {x, weight, bias}, [](const auto& t) { return batch_norm(t[0], t[1], t[2]).y; }, want);
}

void try_batch_norm_eval(Choices& choices) {
  const Plain x = choices.numbers(choices.below(8) == 1 ? choices.shape() : choices.shape_of(choices.within(2, 3)));
  const Plain mean = last_sized(choices, x), weight = last_sized(choices, x), bias = last_sized(choices, x);
  Plain variance = last_sized(choices, x);
  const bool negative = choices.below(8) == 1;
  for (double& v : variance.values) v = negative ? -0.5 : std::abs(v);
  bool fits = (x.rank() == 2 || x.rank() == 3) && x.shape.back() > 0;
  for (const Plain* p : std::initializer_list<const Plain*>{&mean, &variance, &weight, &bias})
    fits = fits && p->shape[0] == x.shape.back();
  std::optional<Plain> want;
  if (fits && !(negative && !variance.values.empty()))
    want = plain(x.shape, [&](const Index& i) {
      const std::int64_t c = i.back();
      return (x.at(i) - mean.values[c]) / std::sqrt(variance.values[c] + kEps) * weight.values[c] + bias.values[c];
    });
  check(
      "batch_norm_eval", {x, weight, bias},
      [&](const auto& t) { return batch_norm_eval(t[0], array_of(mean), array_of(variance), t[1], t[2]); }, want);
}

}  // namespace

void try_normalized(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_row_norm, try_batch_norm, try_batch_norm_eval};
  kOps[choices.below(3)](choices);
}

}  // namespace xtape::fuzz

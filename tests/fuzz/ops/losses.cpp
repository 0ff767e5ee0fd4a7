// Losses, with every reduction.
#include "check.hpp"

#include <cmath>
#include <numeric>

namespace xtape::fuzz {

namespace {

constexpr Reduction kLossReductions[] = {Reduction::mean, Reduction::sum, Reduction::none, Reduction::batchmean};

/// Reduces the losses, of which `counted` are not ignored. Nothing for the batch mean of a scalar.
std::optional<Plain> reduced(const Plain& losses, Reduction how, std::int64_t counted) {
  if (how == Reduction::none) return losses;
  if (how == Reduction::batchmean && losses.shape.empty()) return std::nullopt;
  const double sum = std::accumulate(losses.values.begin(), losses.values.end(), 0.0);
  const std::int64_t parts = how == Reduction::sum ? 1 : how == Reduction::mean ? counted : losses.shape[0];
  return Plain{{}, {parts > 0 ? sum / static_cast<double>(parts) : 0.0}};
}

/// -sum over the classes of target times log softmax(logits), with target(row, class), for each row of logits.
Plain entropies(const Plain& logits, const std::function<double(std::int64_t row, std::int64_t at)>& target) {
  const std::int64_t classes = logits.shape.back();
  Plain out{{logits.shape.begin(), logits.shape.end() - 1}, {}};
  for (std::int64_t row = 0; row < count_of(out.shape); ++row) {
    double total = 0, loss = 0;
    for (std::int64_t at = 0; at < classes; ++at) total += std::exp(logits.values[row * classes + at]);
    for (std::int64_t at = 0; at < classes; ++at)
      loss += target(row, at) * (std::log(total) - logits.values[row * classes + at]);
    out.values.push_back(loss);
  }
  return out;
}

CrossEntropyOptions cross_entropy_options(Choices& choices) {
  static constexpr double kSmoothings[] = {0, 0.25, 1, -0.5, 1.5};
  CrossEntropyOptions options;
  options.reduction = kLossReductions[choices.below(4)];
  if (choices.below(4) == 1) options.label_smoothing = kSmoothings[choices.below(5)];
  return options;
}

bool sound_smoothing(const CrossEntropyOptions& options) {
  return options.label_smoothing >= 0 && options.label_smoothing <= 1;
}

void try_classes(Choices& choices) {
  const Plain logits = choices.numbers(choices.shape());
  const CrossEntropyOptions options = cross_entropy_options(choices);
  Dimensions shape = logits.shape;
  if (!shape.empty()) shape.pop_back();
  if (choices.below(6) == 1) shape = choices.like(shape);
  const std::int64_t classes = logits.rank() > 0 ? logits.shape.back() : 0;
  const std::int64_t ignored = choices.below(4), wrong = choices.below(8) == 1 ? classes : 0;
  Plain targets = choices.numbers(shape);
  bool sound = logits.rank() > 0 && Dimensions(logits.shape.begin(), logits.shape.end() - 1) == shape;
  std::int64_t counted = 0;
  for (std::size_t i = 0; i < targets.values.size(); ++i) {
    double& target = targets.values[i];
    target = classes > 0 ? static_cast<double>(static_cast<std::int64_t>((target + 2) * 8) % classes) : 0;
    if (i == 0 && wrong > 0) target = static_cast<double>(wrong);
    else if (ignored == 1 && i % 2 == 0) target = kIgnore;
    sound = sound && (target == kIgnore || target < static_cast<double>(classes));
    if (target != kIgnore) ++counted;
  }
  std::optional<Plain> want;
  if (sound && sound_smoothing(options)) {
    const double spread = options.label_smoothing / static_cast<double>(classes);
    const Plain losses = entropies(logits, [&](std::int64_t row, std::int64_t at) {
      if (targets.values[row] == kIgnore) return 0.0;
      return spread + (targets.values[row] == static_cast<double>(at) ? 1 - options.label_smoothing : 0.0);
    });
    want = reduced(losses, options.reduction, counted);
  }
  check(
      "cross_entropy " + shape_text(shape), {logits},
      [&](const auto& t) { return cross_entropy(t[0], indices_of(targets), options); }, want);
}

/// Target distributions, mostly of the logits' shape.
void try_distributions(Choices& choices) {
  const Plain logits = choices.numbers(choices.shape());
  const CrossEntropyOptions options = cross_entropy_options(choices);
  const Plain targets = choices.numbers(choices.below(4) == 1 ? choices.like(logits.shape) : logits.shape);
  std::optional<Plain> want;
  if (logits.rank() > 0 && targets.shape == logits.shape && sound_smoothing(options)) {
    const std::int64_t classes = logits.shape.back();
    const Plain losses = entropies(logits, [&](std::int64_t row, std::int64_t at) {
      return options.label_smoothing / static_cast<double>(classes) +
             (1 - options.label_smoothing) * targets.values[row * classes + at];
    });
    want = reduced(losses, options.reduction, count_of(losses.shape));
  }
  check("cross_entropy", {logits, targets}, [&](const auto& t) { return cross_entropy(t[0], t[1], options); }, want);
}

double huber(double x, double t, double delta) {
  const double d = std::abs(x - t);
  return d <= delta ? d * d / 2 : delta * (d - delta / 2);
}

double divergence(double x, double t) { return t > 0 ? t * (std::log(t) - x) : 0; }

double binary_cross_entropy(double x, double t, double positive) {
  return positive * t * std::log1p(std::exp(-x)) + (1 - t) * (x + std::log1p(std::exp(-x)));
}

using PairLoss = std::function<Tensor(const Tensor&, const Tensor&, Reduction)>;

/// A loss between input and target, which must have equal shapes or give an error.
void check_pairs(const char* name, const Plain& a, const Plain& b, Reduction how, bool sound, const PairLoss& op,
                 const std::function<double(double, double)>& f) {
  std::optional<Plain> want;
  if (a.shape == b.shape && sound) {
    Plain losses = a;
    for (std::size_t i = 0; i < losses.values.size(); ++i) losses.values[i] = f(a.values[i], b.values[i]);
    want = reduced(losses, how, count_of(a.shape));
  }
  check(name, {a, b}, [&](const auto& t) { return op(t[0], t[1], how); }, want);
}

void try_pairs(Choices& choices) {
  const Reduction how = kLossReductions[choices.below(4)];
  const std::int64_t kind = choices.below(5);
  const Dimensions shape = choices.shape();
  const Plain a = choices.numbers(shape);
  Plain b = choices.numbers(choices.below(4) == 1 ? choices.like(shape) : shape);
  if (kind == 0)
    return check_pairs("mse_loss", a, b, how, true, mse_loss, [](double x, double t) { return (x - t) * (x - t); });
  if (kind == 1)
    return check_pairs("l1_loss", a, b, how, true, l1_loss, [](double x, double t) { return std::abs(x - t); });
  if (kind == 2) {
    static constexpr double kDeltas[] = {1, 0.5, 3, 0, -1};
    const double delta = kDeltas[choices.below(5)];
    return check_pairs(
        "huber_loss", a, b, how, delta > 0,
        [&](const Tensor& x, const Tensor& t, Reduction r) { return huber_loss(x, t, {delta, r}); },
        [&](double x, double t) { return huber(x, t, delta); });
  }
  if (kind == 3 && choices.yes())
    return check_pairs(
        "kl_div of logs", a, b, how, true,
        [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, {true, r}); },
        [](double x, double t) { return std::exp(t) * (t - x); });
  for (double& t : b.values) t = std::abs(t) / 2;  // a probability
  if (kind == 3)
    return check_pairs(
        "kl_div", a, b, how, true,
        [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, {false, r}); }, divergence);
  check_pairs(
      "binary_cross_entropy_with_logits", a, b, how, true,
      [](const Tensor& x, const Tensor& t, Reduction r) { return binary_cross_entropy_with_logits(x, t, {{}, {}, r}); },
      [](double x, double t) { return binary_cross_entropy(x, t, 1); });
}

/// Binary cross-entropy with a weight for each loss, for the positive class, or for both.
void try_weighted(Choices& choices) {
  const Reduction how = kLossReductions[choices.below(4)];
  const Plain x = choices.numbers(choices.shape());
  Plain target = choices.numbers(x.shape);
  for (double& t : target.values) t = std::abs(t) / 2;
  const std::int64_t kind = choices.below(3);
  const Plain weight = choices.numbers(choices.like(x.shape)), positive = choices.numbers(choices.like(x.shape));
  const bool weighted = kind != 1, raised = kind != 0;
  const auto fits = [&](const Plain& w) { return broadcast(x.shape, w.shape) == x.shape; };
  std::optional<Plain> want;
  if ((!weighted || fits(weight)) && (!raised || fits(positive))) {
    const Plain losses = plain(x.shape, [&](const Index& i) {
      return (weighted ? weight.at(i) : 1) * binary_cross_entropy(x.at(i), target.at(i), raised ? positive.at(i) : 1);
    });
    want = reduced(losses, how, count_of(x.shape));
  }
  check(
      "binary_cross_entropy_with_logits weighted", {x, target, weight, positive},
      [&](const auto& t) {
        return binary_cross_entropy_with_logits(t[0], t[1],
                                                {weighted ? t[2] : Tensor(), raised ? t[3] : Tensor(), how});
      },
      want);
}

}  // namespace

void try_loss(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_classes, try_distributions, try_pairs, try_weighted};
  kOps[choices.below(4)](choices);
}

}  // namespace xtape::fuzz

// Random features of the Gaussian kernel and of exp(q.k).
#include "groups.hpp"

namespace xtape::theory {

namespace {

double squared(const Array& a) { return dot_of(a, a); }
double squared_distance(const Array& a, const Array& b) { return squared(a) + squared(b) - 2 * dot_of(a, b); }

/// A random vector of the given length.
Array of_length(index_t d, double length, Random& random) {
  Array out = normal_array({d}, random);
  out *= static_cast<real>(length / norm_of(out));
  return out;
}

/// cos(w.(q-k)): the product of the sine and cosine features of q and k for one w.
double by_waves(const Array& w, const Array& q, const Array& k) { return std::cos(dot_of(w, q) - dot_of(w, k)); }
/// exp(w.q - |q|^2/2) exp(w.k - |k|^2/2): the product of positive features for one w.
double by_positive(const Array& w, const Array& q, const Array& k) {
  return std::exp(dot_of(w, q) + dot_of(w, k) - squared(q) / 2 - squared(k) / 2);
}

/// A7. K(q, k) = exp(-|q-k|^2/(2 sigma^2)) = E cos(w.(q-k)) for w ~ N(0, I/sigma^2).
void fourier(Report& report) {
  Claim claim(report,
              {"A7", "Random Fourier features of a Gaussian kernel need frequencies of standard deviation 1/sigma.",
               "exp(-|q-k|^2/(2 sigma^2)) = E cos(w.(q-k)), w ~ N(0, I/sigma^2)", "Rahimi, Recht 2007"});
  Random random(report.seed(), "fourier");
  const index_t d = 4, samples = report.quick() ? 40'000 : 400'000;
  const Array q = of_length(d, 1, random), k = of_length(d, 1, random);
  claim.relative("sigma = 1: exp(|q|^2/2) exp(|k|^2/2) K(q, k) beside exp(q.k)", std::exp(dot_of(q, k)),
                 std::exp(squared(q) / 2 + squared(k) / 2 - squared_distance(q, k) / 2), 1e-14);
  const double sigma_squared = std::sqrt(static_cast<double>(d));
  claim.relative("scale 1/sqrt(D): sigma^2 = sqrt(D)", std::exp(dot_of(q, k) / std::sqrt(static_cast<double>(d))),
                 std::exp((squared(q) + squared(k) - squared_distance(q, k)) / (2 * sigma_squared)), 1e-14);
  const double sigma = 1.5, exact = std::exp(-squared_distance(q, k) / (2 * sigma * sigma));
  const auto estimate = [&](double stddev) {
    std::vector<double> values;
    for (index_t i = 0; i < samples; ++i) values.push_back(by_waves(normal_array({d}, random, stddev), q, k));
    return mean_of(values);
  };
  const Mean right = estimate(1 / sigma), wrong = estimate(sigma);
  claim.near("sigma = 1.5: mean over w ~ N(0, I/sigma^2) (4 standard errors)", exact, right.mean, 4 * right.error);
  claim.wrong_statement("\"w ~ N(0, sigma^2 I)\": the kernel beside the mean", wrong.mean, exact,
                        4 * wrong.error / wrong.mean,
                        "standard deviation 1/sigma; the stated w belong to exp(-sigma^2 |q-k|^2/2)");
  claim.near("what the stated w estimate: exp(-sigma^2 |q-k|^2/2)",
             std::exp(-sigma * sigma * squared_distance(q, k) / 2), wrong.mean, 4 * wrong.error);
}

/// Relative variances of both estimators with one vector, over exp(q.k).
struct Variances {
  Mean positive, waves;
};
Variances variances(const Array& q, const Array& k, std::size_t samples, Random& random) {
  const double exact = std::exp(dot_of(q, k)), lift = std::exp((squared(q) + squared(k)) / 2);
  std::vector<double> positive, waves;
  for (std::size_t i = 0; i < samples; ++i) {
    const Array w = normal_array({std::ssize(q)}, random);
    positive.push_back(std::pow(by_positive(w, q, k) / exact - 1, 2));
    waves.push_back(std::pow(lift * by_waves(w, q, k) / exact - 1, 2));
  }
  return {mean_of(positive), mean_of(waves)};
}

/// Relative root-mean-square error of estimates of exp(q.k) by m positive features, over pairs of the given length.
double error_of(index_t d, double length, index_t m, std::size_t pairs, Random& random, bool positive) {
  std::vector<double> squares;
  for (std::size_t i = 0; i < pairs; ++i) {
    const Array q = of_length(d, length, random), k = of_length(d, length, random);
    const double lift = positive ? 1 : std::exp((squared(q) + squared(k)) / 2);
    double sum = 0;
    for (index_t j = 0; j < m; ++j) {
      const Array w = normal_array({d}, random);
      sum += positive ? by_positive(w, q, k) : lift * by_waves(w, q, k);
    }
    squares.push_back(std::pow(sum / static_cast<double>(m) / std::exp(dot_of(q, k)) - 1, 2));
  }
  return std::sqrt(mean_of(squares).mean);
}

/// Error over m: like 1/sqrt(m) for short vectors; no decrease for long ones.
void errors(Claim& claim, Report& report, Random& random) {
  const std::size_t pairs = report.quick() ? 150 : 1000;
  Plot plot{
      "Error of random features against their number", "features m", "relative error of exp(q.k), rms", true, true, {}};
  const auto course = [&](const std::string& name, index_t d, double length, bool positive) {
    Curve out{name, {}, {}};
    for (index_t m = 4; m <= 1024; m *= 4)
      out.x.push_back(static_cast<double>(m)), out.y.push_back(error_of(d, length, m, pairs, random, positive));
    plot.curves.push_back(out);
    return exponent_of(out.x, out.y);
  };
  claim.near("positive, d = 4, |q| = |k| = 0.7: exponent of the error in m", -0.5,
             course("positive, |q| = 0.7", 4, 0.7, true), 0.1);
  claim.near("sines and cosines, the same", -0.5, course("sin/cos, |q| = 0.7", 4, 0.7, false), 0.1);
  const double heavy = course("positive, d = 64, |q| = 8", 64, 8, true);
  claim.at_least("positive, d = 64, |q| = |k| = 8: no decrease to be seen", -0.25, heavy);
  claim.remark(
      "At |q| = 8 the variance is about exp(128): with any number of features that fits in memory the estimate "
      "is far below its mean, and the error stays near 1. The law 1/sqrt(m) holds and is out of reach.");
  Curve law{"1/sqrt(m)", {4, 1024}, {0.5, 1 / 32.0}, true};
  plot.curves.push_back(law);
  claim.plot(std::move(plot));
}

/// A8. exp(q.k) = E[exp(w.q - |q|^2/2) exp(w.k - |k|^2/2)] for w ~ N(0, I).
void positive(Report& report) {
  Claim claim(report,
              {"A8", "Positive random features estimate exp(q.k); they win where q.k < 0 and lose for q near k.",
               "relative variance (exp(|q+k|^2) - 1)/m, of sin/cos about 2 sinh^2(|q-k|^2/2)/m",
               "Choromanski et al. 2021, lemmas 1 and 2"});
  Random random(report.seed(), "positive");
  const index_t d = 4, samples = report.quick() ? 40'000 : 400'000;
  const Array q = of_length(d, 0.6, random), k = of_length(d, 0.6, random);
  std::vector<double> values;
  for (index_t i = 0; i < samples; ++i) values.push_back(by_positive(normal_array({d}, random), q, k));
  const Mean estimate = mean_of(values);
  const double exact = std::exp(dot_of(q, k));
  claim.near("mean of the estimates (4 standard errors)", exact, estimate.mean, 4 * estimate.error);
  const double m = 8;
  claim.wrong_statement(
      "\"f = exp(-|q|^2/2)/m [...] on both sides\", m = 8: estimate beside exp(q.k)", estimate.mean / m, exact, 0.5,
      "1/sqrt(m) on each side; with 1/m the matrix is m times too small, though it cancels after normalization");
  Array opposite = q, close = q;
  opposite *= real(-0.9);
  close *= real(0.9);
  for (const auto& [name, other] :
       {std::pair("q.k < 0 (k = -0.9 q)", &opposite), std::pair("q near k (k = 0.9 q)", &close)}) {
    const Variances found = variances(q, *other, samples, random);
    Array both = q;
    both += *other;
    claim.near(std::string(name) + ": variance, positive (4 SE)", std::exp(squared(both)) - 1, found.positive.mean,
               4 * found.positive.error);
    claim.near(std::string(name) + ": variance, sin/cos (4 SE)",
               2 * std::pow(std::sinh(squared_distance(q, *other) / 2), 2), found.waves.mean, 4 * found.waves.error);
    if (other == &opposite) claim.at_most("q.k < 0: positive / sin-cos", 1, found.positive.mean / found.waves.mean);
    else claim.at_least("q near k: positive / sin-cos", 1, found.positive.mean / found.waves.mean);
  }
  errors(claim, report, random);
  const auto cost = [](index_t n, index_t features) {
    ParamStore store;
    AttentionConfig config = attention_config("prf", 1);
    config.features = features;
    const MultiHeadAttention layer(store.root(), {.width = 64, .heads = 1, .attention = config});
    return layer.cost({.queries = n, .keys = n}).attention;
  };
  claim.near("counted operations: exponent in n", 1, std::log2(cost(2048, 64) / cost(1024, 64)), 1e-9);
  claim.near("counted operations: exponent in m, from m = 512 on", 1, std::log2(cost(1024, 1024) / cost(1024, 512)),
             0.02);
}

/// The library's kinds rff and prf against its softmax, against m.
void layers_of_features(Report& report) {
  Claim claim(report, {"A8", "The layers of kind rff and prf approach softmax attention like 1/sqrt(m).",
                       "relative error of the output, short queries and keys", "Choromanski et al. 2021"});
  Random random(report.seed(), "layers");
  const Tensor q = normal_array({1, 1, 32, 8}, random, 0.4), k = normal_array({1, 1, 32, 8}, random, 0.4);
  const Tensor v = normal_array({1, 1, 32, 8}, random);
  const Array exact = scaled_dot_product_attention(q, k, v).value();
  Plot plot{"Attention by random features", "features m", "relative error of the output", true, true, {}};
  for (const auto& [name, kind] : {std::pair("rff", AttentionKind::rff), std::pair("prf", AttentionKind::prf)}) {
    Curve out{name, {}, {}};
    for (index_t m = 64; m <= 4096; m *= 4) {
      std::vector<double> found;
      for (int draw = 0; draw < (report.quick() ? 10 : 40); ++draw) {
        const AttentionConfig config{.kind = kind,
                                     .key_heads = 1,
                                     .head_width = 8,
                                     .value_width = 8,
                                     .scale = 1 / std::sqrt(8.0),
                                     .features = m};
        Array apart = attend(config, q, k, v, {}, {.features = normal_array({m, 8}, random)}).value();
        apart -= exact;
        found.push_back(norm_of(apart) / norm_of(exact));
      }
      out.x.push_back(static_cast<double>(m)), out.y.push_back(median_of(found));
    }
    claim.near(std::string(name) + ": exponent of the error in m", -0.5, exponent_of(out.x, out.y), 0.1);
    plot.curves.push_back(std::move(out));
  }
  claim.plot(std::move(plot));
}

}  // namespace

void random_features(Report& report) {
  fourier(report);
  positive(report);
  layers_of_features(report);
}

}  // namespace xtape::theory

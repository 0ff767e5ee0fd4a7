// The size of scores, and its effect on softmax.
#include "groups.hpp"

namespace xtape::theory {

namespace {

/// Variance of values with its standard error, from the fourth moment.
Mean variance_of(const std::vector<double>& values) {
  const double center = mean_of(values).mean;
  std::vector<double> squares;
  for (double value : values) squares.push_back((value - center) * (value - center));
  return mean_of(squares);
}

/// A1. For independent q, k ~ N(mu, sigma^2 I): E[q.k] = |mu|^2, Var = 2 sigma^2 |mu|^2 + d sigma^4.
void moments(Report& report) {
  Claim claim(report, {"A1", "The variance of q.k grows with the width, so scores are scaled by 1/sqrt(d).",
                       "E[q.k] = |mu|^2, Var(q.k) = 2 sigma^2 |mu|^2 + d sigma^4",
                       "moments of the normal distribution; Vaswani et al. 2017, footnote 4"});
  Random random(report.seed(), "moments");
  const index_t d = 16, samples = report.quick() ? 50'000 : 400'000;
  const double sigma = 1.5, step = 0.5;
  const double mu_squared = static_cast<double>(d) * step * step, width = static_cast<double>(d);
  std::vector<double> products, standard;
  for (index_t i = 0; i < samples; ++i) {
    products.push_back(dot_of(normal_array({d}, random, sigma, step), normal_array({d}, random, sigma, step)));
    standard.push_back(dot_of(normal_array({d}, random), normal_array({d}, random)));
  }
  const Mean mean = mean_of(products), variance = variance_of(products), plain = variance_of(standard);
  claim.near("mean of q.k (4 standard errors)", mu_squared, mean.mean, 4 * mean.error);
  claim.near("variance of q.k", 2 * sigma * sigma * mu_squared + width * std::pow(sigma, 4), variance.mean,
             4 * variance.error);
  claim.near("mu = 0, sigma = 1: variance d", width, plain.mean, 4 * plain.error);
  const double first = 2 * width * sigma * sigma * mu_squared + width * std::pow(sigma, 4);
  claim.wrong_statement("\"Var = 2 d sigma^2 |mu|^2 + d sigma^4\"", first, variance.mean, 4 * variance.error / first,
                        "no factor d on the first term");
  const double second = 2 * sigma * sigma * mu_squared + width * sigma * sigma;
  claim.wrong_statement("\"Var = 2 sigma^2 |mu|^2 + d sigma^2\"", second, variance.mean, 4 * variance.error / second,
                        "the second term is d sigma^4");
}

struct Saturation {
  double median, mean;  ///< norms of the softmax Jacobian
  double query_median;  ///< norms of d out / d q
};

/// Over random queries and keys of unit variance: 16 keys of width d, values of width 16.
Saturation saturation(index_t d, double scale, std::size_t samples, Random& random) {
  std::vector<double> norms, query_norms;
  for (std::size_t i = 0; i < samples; ++i) {
    const Array q = normal_array({d}, random);
    const Tensor k = normal_array({16, d}, random), v = normal_array({16, 16}, random);
    const Array a = softmax(matmul(k, q) * static_cast<real>(scale)).value();
    Array jacobian = Tensor::zeros({16, 16}).value();  // diag(a) - a a^T
    for (std::size_t r = 0; r < 16; ++r)
      for (std::size_t c = 0; c < 16; ++c) jacobian(r, c) = (r == c ? a(r) : 0) - a(r) * a(c);
    norms.push_back(norm_of(jacobian));
    const Array by_scores = product(transpose(v).value(), jacobian);
    query_norms.push_back(scale * norm_of(product(by_scores, k.value())));
  }
  return {median_of(norms), mean_of(norms).mean, median_of(query_norms)};
}

/// A2. The Jacobian of softmax is diag(a) - a a^T: near 0 where one weight is near 1.
void saturated(Report& report) {
  Claim claim(report, {"A2", "Without the scale softmax saturates and its gradients vanish in probability.",
                       "da/ds = diag(a) - a a^T; median norm exponential in sqrt(d), mean like d^(-1/2)",
                       "Vaswani et al. 2017, section 3.2.1; gap of the two largest of n normal scores"});
  Random random(report.seed(), "saturation");
  const Array s = normal_array({6}, random);
  const Array a = softmax(Tensor(s)).value();
  double worst = 0;
  const Array measured = jacobian([](const Tensor& x) { return softmax(x); }, s);
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t c = 0; c < 6; ++c)
      worst = std::max(worst, std::abs(measured(r, c) - ((r == c ? a(r) : 0) - a(r) * a(c))));
  claim.near("tape's Jacobian of softmax is diag(a) - a a^T", 0, worst, 1e-15);

  const std::size_t samples = report.quick() ? 300 : 3000;
  Curve medians{"median, not scaled", {}, {}}, means{"mean, not scaled", {}, {}}, scaled{"median, scaled", {}, {}};
  std::vector<double> queries, roots, logs;
  for (index_t d : {4, 16, 64, 256, 1024}) {
    const Saturation raw = saturation(d, 1, samples, random);
    const double scale = 1 / std::sqrt(static_cast<double>(d));
    const Saturation even = saturation(d, scale, samples, random);
    for (Curve* curve : {&medians, &means, &scaled}) curve->x.push_back(static_cast<double>(d));
    medians.y.push_back(raw.median), means.y.push_back(raw.mean), scaled.y.push_back(even.median);
    queries.push_back(raw.query_median / even.query_median);
    if (d >= 64) roots.push_back(1 / scale), logs.push_back(std::log(raw.median));
  }
  claim.factor("scaled, d = 1024: median norm beside d = 4", scaled.y.front(), scaled.y.back(), 1.3);
  claim.near("not scaled: exponent of the mean norm from d = 64 on", -0.5,
             exponent_of({means.x.begin() + 2, means.x.end()}, {means.y.begin() + 2, means.y.end()}), 0.15);
  const double early = (logs[1] - logs[0]) / (roots[1] - roots[0]), late = (logs[2] - logs[1]) / (roots[2] - roots[1]);
  claim.factor("not scaled: growth of ln(median) with sqrt(d), 256..1024 / 64..256", 1, late / early, 1.6);
  claim.wrong_statement("\"without the scale gradients explode\": median |d out/d q|, not scaled / scaled, d = 1024", 1,
                        queries.back(), 0.5, "softmax saturates and they vanish");
  claim.plot({"Norm of the softmax Jacobian, 16 keys",
              "width d",
              "norm of diag(a) - a a^T",
              true,
              true,
              {medians, means, scaled}});
}

}  // namespace

void scores(Report& report) {
  moments(report);
  saturated(report);
}

}  // namespace xtape::theory

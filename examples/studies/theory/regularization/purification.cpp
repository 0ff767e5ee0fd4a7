// Self-supervised linear purification: ridge regression of X on itself.
#include "groups.hpp"

namespace xtape::theory {

namespace {

const std::vector<double> kSingularValues = {10, 8, 4, 1, 0.5, 0.36, 0.16, 0.01};

Array orthogonal(index_t size, const char* name) {
  Random random(31, name);
  Array out = empty_array({size, size});
  init::orthogonal()(out, random);
  return out;
}

/// |X - W X|^2 + lambda |W|^2.
Tensor cost(const Tensor& w, const Tensor& x, double lambda) {
  return sum(pow(x - matmul(w, x), 2)) + sum(pow(w, 2)) * static_cast<real>(lambda);
}

/// Gradient descent with momentum, tuned for curvatures between 2 lambda + 2 s_min^2 and 2 lambda + 2 s_max^2.
Array descended(const Array& x, double lambda, double least, double greatest, int steps) {
  Parameter w("w", Tensor::zeros({shape_of(x)[0], shape_of(x)[0]}).value());
  const double low = std::sqrt(2 * (least * least + lambda)), high = std::sqrt(2 * (greatest * greatest + lambda));
  SGD opt({{.name = "all", .parameters = {w}}}, {.momentum = std::pow((high - low) / (high + low), 2)});
  for (int t = 0; t < steps; ++t) {
    Tape tape;
    tape.backward(cost(w, x, lambda));
    opt.step(4 / std::pow(high + low, 2));
    w.zero_grad();
  }
  return w.value();
}

/// X X^T (X X^T + lambda I)^-1 for two rows.
Array closed_form_of_two(const Array& x, double lambda) {
  const Array s = product(x, transpose(Tensor(x)).value());
  const double a = s(0, 0) + lambda, b = s(0, 1), d = s(1, 1) + lambda, det = a * d - b * b;
  const Array inverse = matrix(2, {d / det, -b / det, -b / det, a / det});
  return product(s, inverse);
}

/// 1 if exactly the first three singular values are kept at >= 0.8 and the rest at <= 0.5.
double separates(double lambda) {
  for (std::size_t i = 0; i < kSingularValues.size(); ++i) {
    const double kept = kSingularValues[i] * kSingularValues[i] / (kSingularValues[i] * kSingularValues[i] + lambda);
    if (i < 3 ? kept < 0.8 : kept > 0.5) return 0;
  }
  return 1;
}

/// Singular values 10 .. 0.01: W = U diag(s^2/(s^2 + lambda)) U^T.
void filter(Claim& claim) {
  const index_t n = kSingularValues.size();
  const Array u = orthogonal(n, "u"), v = orthogonal(n, "v");
  Array scaled = u;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) scaled(i, j) *= kSingularValues[j];
  const Array x = product(scaled, transpose(Tensor(v)).value());
  Plot plot{"The filter on singular values", "singular value", "share that is kept", true, false, {}};
  for (double lambda : {1.0, 4.0}) {
    const Array w = descended(x, lambda, 0.01, 10, 1500);
    const Array inside = product(product(transpose(Tensor(u)).value(), w), u);  // U^T W U
    Array expected = Tensor::zeros({n, n}).value();
    Curve measured{"descended, lambda = " + std::to_string(static_cast<int>(lambda)), kSingularValues, {}, false, true};
    Curve law{"s^2/(s^2 + " + std::to_string(static_cast<int>(lambda)) + ")", {}, {}, true};
    for (index_t i = 0; i < n; ++i) {
      const double square = kSingularValues[i] * kSingularValues[i];
      expected(i, i) = square / (square + lambda);
      measured.y.push_back(inside(i, i));
    }
    for (double s = 0.01; s < 10.01; s *= std::pow(10, 0.1))
      law.x.push_back(s), law.y.push_back(s * s / (s * s + lambda));
    claim.near("lambda = " + std::to_string(static_cast<int>(lambda)) + ": largest |descended - filter|", 0,
               largest_difference(inside, expected), 1e-8);
    plot.curves.push_back(std::move(law));
    plot.curves.push_back(std::move(measured));
  }
  const double inside = separates(1) + separates(2) + separates(4), outside = separates(0.99) + separates(4.01);
  claim.equal("three values kept >= 0.8, five <= 0.5: of lambda = 1, 2, 4", 3, inside);
  claim.equal("the same: of lambda = 0.99 and 4.01", 0, outside);
  claim.plot(std::move(plot));
}

}  // namespace

/// W4. argmin_W |X - W X|^2 + lambda |W|^2 = X X^T (X X^T + lambda I)^-1.
void purification(Report& report) {
  Claim claim(report, {"W4", "Linear purification is a filter on singular values.",
                       "W = X X^T (X X^T + lambda I)^-1 = U diag(s_i^2/(s_i^2 + lambda)) U^T", "ridge regression"});
  filter(claim);
  const Array x = matrix(2, {-2.17, 1.98, 2.41, -2.03, 0.02, -0.01, 0.01, -0.02});
  const double lambda = 0.001;
  const auto costs = [&](const Array& w) { return static_cast<double>(cost(w, x, lambda).item()); };
  const Array best = closed_form_of_two(x, lambda);
  claim.relative("the identity costs 2 lambda", 2 * lambda, costs(diagonal(2, 1)), 1e-9);
  Array first = diagonal(2, 1);
  first(1, 1) = 0;
  claim.relative("diag(1, 0) costs 0.001 + lambda: a tie at lambda = 0.001", 0.001 + lambda, costs(first), 1e-9);
  claim.near("the optimum costs 0.0015", 0.0015, costs(best), 5e-5);
  claim.at_most("the optimum, beside the tie", 0.9, costs(best) / costs(first));
  const Tensor s = matmul(Tensor(x), Tensor(x), {.transpose_b = true});
  const double trace = s.value()(0, 0) + s.value()(1, 1);
  const double det = s.value()(0, 0) * s.value()(1, 1) - s.value()(0, 1) * s.value()(0, 1);
  const double root = std::sqrt(trace * trace / 4 - det), least = trace / 2 - root, greatest = trace / 2 + root;
  claim.relative("condition number at the tie", 9300, (greatest + lambda) / (least + lambda), 0.02);
  claim.near("gradient descent (momentum): largest |descended - closed form|", 0,
             largest_difference(descended(x, lambda, std::sqrt(least), std::sqrt(greatest), 4000), best), 1e-8);
}

}  // namespace xtape::theory

// Results that are ordinary numbers although squares, sums or factors on the way to them leave the range of the dtype.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

const Limits kClose{tolerance(1e-12, 2e-5), 0};

/// Powers of ten from tiny to huge; one is 1.
std::vector<double> scales() {
  if (kDouble) return {1e-300, 1e-250, 1e-200, 1e-160, 1e-100, 1e-20, 1, 1e20, 1e100, 1e160, 1e200, 1e250, 1e300};
  return {1e-30, 1e-25, 1e-20, 1e-15, 1e-10, 1, 1e10, 1e15, 1e20, 1e25, 1e30};
}

Array times(const Array& x, double factor) {
  Array out = empty_array(x.shape());
  for (std::size_t i = 0; i < x.size(); ++i)
    out.data()[i] = static_cast<real>(static_cast<double>(x.data()[i]) * factor);
  return out;
}

Tensor filled_tensor(const Shape& shape, double value) {
  Array out = empty_array(shape);
  out.fill(static_cast<real>(value));
  return Tensor(std::move(out));
}

/// A function whose value grows as the power `value` of a factor of its first input, and whose gradients grow as the
/// powers `grads`.
struct Scaling {
  const char* name;
  std::function<Tensor(Inputs, double factor)> f;
  std::vector<Array> inputs;
  int value;
  std::vector<int> grads;
};

/// eps = 0 where the function has one, or an eps that grows with the square of the factor.
std::vector<Scaling> scalings() {
  const Array x = sample({3, 37}, 1, -1, 2), weight = sample({37}, 2, 0.5, 2), bias = sample({37}, 3);
  const Array tall = sample({70, 5}, 4, -1, 2), five = sample({5}, 5, 0.5, 2), other = sample({5}, 6);
  const auto root = [](double factor) { return factor * std::sqrt(0.01); };
  std::vector<Scaling> out = {
      {"layer_norm",
       [](Inputs a, double) { return layer_norm(a[0], a[1], a[2], 0); },
       {x, weight, bias},
       0,
       {-1, 0, 0}},
      {"layer_norm without affine", [](Inputs a, double) { return layer_norm(a[0], {}, {}, 0); }, {x}, 0, {-1}},
      {"rms_norm", [](Inputs a, double) { return rms_norm(a[0], a[1], 0); }, {x, weight}, 0, {-1, 0}},
      {"batch_norm",
       [](Inputs a, double) { return batch_norm(a[0], a[1], a[2], 0).y; },
       {tall, five, other},
       0,
       {-1, 0, 0}},
      {"stddev", [](Inputs a, double) { return stddev(a[0], {1}); }, {x}, 1, {0}},
      {"stddev over the first axis", [](Inputs a, double) { return stddev(a[0], {0}, true, 0); }, {x}, 1, {0}},
      {"norm", [](Inputs a, double) { return norm(a[0], {1}); }, {x}, 1, {0}},
      {"norm of all", [](Inputs a, double) { return norm(a[0]); }, {x}, 1, {0}},
      {"mean", [](Inputs a, double) { return mean(a[0]); }, {x}, 1, {0}},
      {"mean of columns", [](Inputs a, double) { return mean(a[0], {0}); }, {x}, 1, {0}},
      {"sum", [](Inputs a, double) { return sum(a[0], {1}); }, {x}, 1, {0}},
  };
  for (const bool subtract : {true, false})
    out.push_back({subtract ? "layer_norm, eps along" : "rms_norm, eps along",
                   [=](Inputs a, double factor) {
                     const double eps = std::pow(root(factor), 2);
                     return subtract ? layer_norm(a[0], {}, {}, eps) : rms_norm(a[0], {}, eps);
                   },
                   {x},
                   0,
                   {-1}});
  return out;
}

/// Whether multiplying by factor^power keeps the dtype's digits.
bool representable(double factor, int power) { return std::abs(power * std::log10(factor)) <= (kDouble ? 300 : 30); }

}  // namespace

TEST_CASE("norms, means and deviations and their gradients follow the scale of their input over the whole range") {
  for (const Scaling& s : scalings()) {
    const Array value = evaluate([&](Inputs a) { return s.f(a, 1); }, s.inputs).value;
    const Array dy = sample(Shape(value.shape()), 9);
    const Evaluated want = evaluate([&](Inputs a) { return s.f(a, 1); }, s.inputs, dy);
    for (const double factor : scales()) {
      INFO(s.name, " at ", factor);
      if (kDouble && std::string(s.name).ends_with("along") && std::abs(std::log10(factor)) > 150) continue;  // eps
      std::vector<Array> inputs = s.inputs;
      inputs[0] = times(inputs[0], factor);
      const Evaluated got = evaluate([&](Inputs a) { return s.f(a, factor); }, inputs, dy);
      const double size = static_cast<double>(max(abs(Tensor(want.value))).item());
      const double scale = s.value == 1 ? factor : 1;
      check_near(got.value, times(want.value, scale), {kClose.relative, tolerance(1e-13, 1e-5) * size * scale});
      for (std::size_t i = 0; i < got.grads.size(); ++i) {
        const double grown = s.grads[i] == -1 ? 1 / factor : 1;
        if (!representable(factor, s.grads[i])) continue;
        const double most = static_cast<double>(max(abs(Tensor(want.grads[i]))).item());
        check_near(got.grads[i], times(want.grads[i], grown), {kClose.relative, tolerance(1e-13, 2e-5) * most * grown});
      }
    }
  }
}

TEST_CASE("gradients of norm layers follow the scale of the upstream gradient over the whole range") {
  for (const Scaling& s : scalings()) {
    const Array value = evaluate([&](Inputs a) { return s.f(a, 1); }, s.inputs).value;
    const Array dy = sample(Shape(value.shape()), 9);
    const Evaluated want = evaluate([&](Inputs a) { return s.f(a, 1); }, s.inputs, dy);
    std::vector<double> factors = scales();
    factors.push_back(kDouble ? 2e307 : 2e37);
    for (const double factor : factors) {
      INFO(s.name, " at ", factor);
      const Evaluated got = evaluate([&](Inputs a) { return s.f(a, 1); }, s.inputs, times(dy, factor));
      for (std::size_t i = 0; i < got.grads.size(); ++i) {
        const double most = static_cast<double>(max(abs(Tensor(want.grads[i]))).item());
        if (most * factor > (kDouble ? 1.7e308 : 3e38)) continue;
        check_near(got.grads[i], times(want.grads[i], factor),
                   {kClose.relative, tolerance(1e-13, 2e-5) * most * factor});
      }
    }
  }
}

TEST_CASE("layer and RMS norm of large finite rows are not zero") {
  const Array x = array({1, 4}, {1e20, 2e20, 3e20, 4e20}), dy = array({1, 4}, {1, -1, 2, 0});
  const Array ones = row({1, 1, 1, 1}), none = row({0, 0, 0, 0});
  const Evaluated e = evaluate([](Inputs a) { return layer_norm(a[0], a[1], a[2]); }, {x, ones, none}, dy);
  check_near(e.value, array({1, 4}, {-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865}), {1e-6, 0});
  check_near(e.grads[1], row({-1.3416407865, 0.4472135955, 0.894427191, 0}), {1e-6, 0});
  check_near(rms_norm(x).value(), array({1, 4}, {0.3651483717, 0.7302967433, 1.095445115, 1.460593487}), {1e-6, 0});
}

TEST_CASE("norms of rows at the end of the range") {
  const double most = kDouble ? 1.7e308 : 3.4e38;
  const Array x = array({1, 4}, {most, -most, most, -most});
  const Array signs = array({1, 4}, {1, -1, 1, -1});
  check_near(layer_norm(x).value(), signs, {1e-6, 0});
  check_near(rms_norm(x).value(), signs, {1e-6, 0});
  check_near(batch_norm(reshape(x, {4, 1})).y.value(), reshape(signs, {4, 1}).value(), {1e-6, 0});
  check_near(stddev(Tensor(x), {1}, false, 0).value(), row({most}), {1e-6, 0});
  check_near(norm(row({most / 2, most / 2})).value(), array({}, {most / 2 * std::sqrt(2.0)}), {1e-6, 0});
  check_equal(mean(Tensor(x)).value(), array({}, {0}));
  check_equal(var(filled_tensor({8}, most)).value(), array({}, {0}));
}

TEST_CASE("a constant row is normalized to exactly zero, whatever its constant") {
  for (const index_t width : {1, 2, 3, 7, 16, 100, 1000, 4099}) {
    for (const double c : {0.1, 1000.1, 12345.678, 1e6, -7e9, 3e30, 1e-30, kDouble ? 1e308 : 3e38}) {
      INFO(width, " times ", c);
      check_equal(layer_norm(filled_tensor({2, width}, c)).value(), filled_tensor({2, width}, 0).value());
      check_equal(layer_norm(filled_tensor({2, width}, c), {}, {}, 0).value(), filled_tensor({2, width}, 0).value());
      check_equal(batch_norm(filled_tensor({width + 1, 2}, c)).y.value(), filled_tensor({width + 1, 2}, 0).value());
      check_equal(stddev(filled_tensor({width + 1}, c)).value(), array({}, {0}));
    }
  }
}

TEST_CASE("the mean of the largest finite numbers is finite") {
  const double most = kDouble ? 1.5e308 : 3e38;
  for (const index_t n : {1, 3, 40, 1000, 20000}) {
    INFO(n);
    check_near(mean(filled_tensor({n}, most)).value(), array({}, {most}), {tolerance(1e-15, 1e-7), 0});
    check_near(mean(filled_tensor({n, 3}, most), {0}).value(), row({most, most, most}), {tolerance(1e-15, 1e-7), 0});
    check_near(mean(filled_tensor({3, n}, most), {1}).value(), row({most, most, most}), {tolerance(1e-15, 1e-7), 0});
    check_near(mean(filled_tensor({2, 3, n}, most), {0, 2}).value(), row({most, most, most}),
               {tolerance(1e-15, 1e-7), 0});
  }
}

TEST_CASE("a sum whose parts overflow and cancel is finite") {
  const double most = kDouble ? 1.5e308 : 3e38;
  Array x = empty_array({200, 3});
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t j = 0; j < 3; ++j) x(i, j) = static_cast<real>(i < 100 ? most : -most);
  check_equal(sum(Tensor(x)).value(), array({}, {0}));
  check_equal(sum(Tensor(x), {0}).value(), row({0, 0, 0}));
  check_equal(sum(permute(x, {1, 0}), {1}).value(), row({0, 0, 0}));
  check_equal(sum(reshape(x, {200, 1, 3}), {0, 2}).value(), row({0}));
  Array wide = empty_array({2, 2, 40});
  for (std::size_t i = 0; i < wide.size(); ++i) wide.data()[i] = static_cast<real>(i < wide.size() / 2 ? most : -most);
  check_equal(sum(Tensor(wide), {0, 2}).value(), row({0, 0}));
}

TEST_CASE("a mean over more elements than a float counts is exact") {
  check_equal(mean(Tensor::ones({(1u << 24) + 1})).value(), array({}, {1}));
}

TEST_CASE("batch norm in evaluation with extreme statistics") {
  const double big = kDouble ? 1e150 : 1e18;
  for (const double scale : {big, 1 / big}) {
    INFO(scale);
    const Array x = array({2, 1}, {3 * scale, -scale}), mean_of = row({scale}), variance = row({4 * scale * scale});
    const Evaluated e = evaluate([&](Inputs a) { return batch_norm_eval(a[0], mean_of, variance, a[1], a[2], 0); },
                                 {x, row({2}), row({0.5})}, array({2, 1}, {1, 2}));
    check_near(e.value, array({2, 1}, {2.5, -1.5}), {1e-6, 0});
    check_near(e.grads[0], array({2, 1}, {1 / scale, 2 / scale}), {1e-6, 0});
    check_near(e.grads[1], row({-1}), {1e-6, 0});
  }
}

TEST_CASE("the gradient of batch norm in evaluation does not depend on the input") {
  const Array x = array({2, 2}, {kInf, 1, kNaN, 2}), zeros = row({0, 0}), ones = row({1, 1});
  const Evaluated e = evaluate([&](Inputs a) { return batch_norm_eval(a[0], zeros, ones, {}, {}, 0); }, {x});
  check_equal(e.grads[0], array({2, 2}, {1, 1, 1, 1}));
}

// Batch normalization: statistics, values, degenerate batches, errors.
#include <xtape/core/threads.hpp>

#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

Array column(std::initializer_list<double> values) { return array({std::ssize(values), 1}, values); }

/// Updates running statistics as the layer does: new = (1 - momentum) old + momentum batch.
struct Running {
  Array mean = row({0}), variance = row({1});

  void update(const BatchNormOutput& out, double momentum = 0.1) {
    for (auto [kept, now] : {std::pair{&mean, &out.mean}, std::pair{&variance, &out.variance}})
      for (std::size_t c = 0; c < kept->size(); ++c)
        kept->data()[c] = static_cast<real>((1 - momentum) * static_cast<double>(kept->data()[c]) +
                                            momentum * static_cast<double>(now->data()[c]));
  }
};

/// Batch normalization by a plain loop in double.
Array reference(const Array& x, std::size_t columns, double eps) {
  Array out = empty_array(x.shape());
  const std::size_t rows = x.size() / columns;
  for (std::size_t c = 0; c < columns; ++c) {
    double mean = 0, variance = 0;
    for (std::size_t r = 0; r < rows; ++r)
      mean += static_cast<double>(x.data()[r * columns + c]) / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const double d = static_cast<double>(x.data()[r * columns + c]) - mean;
      variance += d * d / static_cast<double>(rows);
    }
    for (std::size_t r = 0; r < rows; ++r)
      out.data()[r * columns + c] =
          static_cast<real>((static_cast<double>(x.data()[r * columns + c]) - mean) / std::sqrt(variance + eps));
  }
  return out;
}

}  // namespace

TEST_CASE("batch norm normalizes with the biased variance and returns the unbiased one") {
  Running running;
  const BatchNormOutput first = batch_norm(column({1, 3, 5, 7}));
  check_near(first.y.value(), column({-1.3416394449, -0.4472131483, 0.4472131483, 1.3416394449}));
  running.update(first);
  check_near(running.mean, row({0.4}));
  check_near(running.variance, row({1.5666666667}));
  const BatchNormOutput second = batch_norm(column({2, 2, 2, 2}));
  check_equal(second.y.value(), column({0, 0, 0, 0}));
  running.update(second);
  check_near(running.mean, row({0.56}));
  check_near(running.variance, row({1.41}));
  check_near(batch_norm_eval(column({5}), running.mean, running.variance).value(), column({3.7391412702}));
}

TEST_CASE("batch norm in training refuses a single value per channel and changes nothing") {
  Running running;
  const Array mean = running.mean, variance = running.variance;
  for (const Array& x : {column({5}), array({1, 1, 1}, {5}), empty_array({0, 1})})
    check_throws<ValueError>([&] { running.update(batch_norm(x)); },
                             "[batch_norm] expected more than one value in each channel in training");
  check_equal(running.mean, mean);
  check_equal(running.variance, variance);
  check_throws<ValueError>([&] { batch_norm(array({1, 3}, {1, 2, 3})); }, "got (1,3)");
}

TEST_CASE("batch norm over time equals batch norm over all rows") {
  const Array x = sample({3, 4, 5}, 1, -2, 5);
  Array flat = x;
  flat.reshape({12, 5});
  Array want = reference(flat, 5, 1e-5);
  check_near(batch_norm(flat).y.value(), want, {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)});
  want.reshape({3, 4, 5});
  check_near(batch_norm(x).y.value(), want, {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)});
}

TEST_CASE("batch norm of many rows agrees with a plain loop for any number of threads") {
  const Array x = sample({1000, 67}, 2, -1, 1);
  const int before = threads();
  set_threads(1);
  const BatchNormOutput one = batch_norm(x);
  set_threads(3);
  const BatchNormOutput three = batch_norm(x);
  set_threads(before);
  check_equal(one.y.value(), three.y.value());
  check_equal(one.variance, three.variance);
  check_near(one.y.value(), reference(x, 67, 1e-5), {tolerance(1e-11, 2e-6), tolerance(1e-12, 1e-6)});
}

TEST_CASE("batch norm keeps its precision under a large mean") {
  Array x = empty_array({256, 2});
  for (std::size_t r = 0; r < 256; ++r) {
    x(r, 0) = static_cast<real>(40000 + static_cast<double>(r % 4));
    x(r, 1) = static_cast<real>(-1e6 + static_cast<double>(r % 4));
  }
  const BatchNormOutput out = batch_norm(x);
  for (std::size_t r = 0; r < 4; ++r) {
    const double want = (static_cast<double>(r) - 1.5) / std::sqrt(1.25 + 1e-5);
    check_near(static_cast<double>(out.y.value()(r, 0)), want, {tolerance(1e-11, 1e-6), 0});
    check_near(static_cast<double>(out.y.value()(r, 1)), want, {tolerance(1e-9, 1e-6), 0});
  }
  check_near(out.variance, row({1.25 * 256 / 255, 1.25 * 256 / 255}), {tolerance(1e-11, 1e-6), 0});
}

TEST_CASE("a constant channel is normalized to its bias, with finite gradients") {
  const auto f = [](Inputs a) { return batch_norm(a[0], a[1], a[2]).y; };
  const Evaluated e = evaluate(f, {column({7, 7}), row({1}), row({0.5})}, column({1, 3}));
  check_equal(e.value, column({0.5, 0.5}));
  check_near(e.grads[0], column({-1 / std::sqrt(1e-5), 1 / std::sqrt(1e-5)}), {tolerance(1e-9, 1e-5), 0});
  check_equal(e.grads[1], row({0}));
  check_equal(e.grads[2], row({4}));
}

TEST_CASE("batch norm in evaluation is an affine map, also of one row and of none") {
  const Array mean = row({1, -2}), variance = row({4, 0.25});
  const Tensor weight = row({2, 3}), bias = row({0.5, 0});
  check_near(batch_norm_eval(array({1, 2}, {3, 0}), mean, variance, weight, bias, 0).value(), array({1, 2}, {2.5, 12}));
  CHECK(batch_norm_eval(empty_array({0, 2}), mean, variance).shape() == Shape{0, 2});  // empty batch
  const auto f = [&](Inputs a) { return batch_norm_eval(a[0], mean, variance, a[1], a[2], 0); };
  const Evaluated e = evaluate(f, {empty_array({0, 2}), weight.value(), bias.value()});
  check_equal(e.grads[1], row({0, 0}));
  check_equal(e.grads[2], row({0, 0}));
}

TEST_CASE("batch norm refuses invalid shapes and options") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6}), three = row({1, 1, 1}), two = row({1, 1});
  check_throws<ShapeError>([&] { batch_norm(Tensor::zeros({2, 2, 2, 2})); }, "expected x [B, C] or [B, T, C], got");
  check_throws<ShapeError>([&] { batch_norm(three); }, "[batch_norm] expected x [B, C] or [B, T, C], got (3)");
  check_throws<ShapeError>([&] { batch_norm(x, two); }, "[batch_norm] expected weight and bias of shape");
  check_throws<ShapeError>([&] { batch_norm(x, three, two); }, "[batch_norm]");
  check_throws<ValueError>([&] { batch_norm(x, three, three, -1); }, "[batch_norm] expected an eps of at least 0, got");
  const Array ones = row({1, 1, 1}), pair = row({1, 1}), negative = row({1, -1, 1});
  check_throws<ShapeError>([&] { batch_norm_eval(x, pair, ones); },
                           "[batch_norm_eval] expected mean and variance of shape");
  check_throws<ShapeError>([&] { batch_norm_eval(x, ones, pair); },
                           "[batch_norm_eval] expected mean and variance of shape");
  check_throws<ValueError>([&] { batch_norm_eval(x, ones, negative); },
                           "[batch_norm_eval] expected a variance of at least 0, got");
  check_throws<ValueError>([&] { batch_norm_eval(x, ones, ones, {}, {}, -1); },
                           "[batch_norm_eval] expected an eps of at least 0, got -1");
}

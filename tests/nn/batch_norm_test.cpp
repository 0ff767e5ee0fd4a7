#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kLimits{tolerance(1e-9, 1e-5), tolerance(1e-10, 1e-6)};

Array column(std::initializer_list<double> values) { return array({std::ssize(values), 1}, values); }

void check_running(const BatchNorm& layer, const Array& mean, const Array& variance, double count) {
  check_near(layer.running_mean.value(), mean, kLimits);
  check_near(layer.running_var.value(), variance, kLimits);
  CHECK(static_cast<double>(layer.num_batches_tracked.value().data()[0]) == count);
}

}  // namespace

TEST_CASE(
    "BatchNorm: normalizes with the biased variance, tracks the unbiased one, and evaluates with the tracked one") {
  ParamStore store;
  BatchNorm layer(store.root(), 1);
  check_running(layer, row({0}), row({1}), 0);
  check_near(layer(Tensor(column({1, 3, 5, 7}))).value(),
             column({-1.3416394449, -0.4472131483, 0.4472131483, 1.3416394449}), kLimits);
  check_running(layer, row({0.4}), row({1.5666666667}), 1);
  check_near(layer(Tensor(column({2, 2, 2, 2}))).value(), column({0, 0, 0, 0}), kLimits);
  check_running(layer, row({0.56}), row({1.41}), 2);
  store.eval();
  check_near(layer(Tensor(column({5}))).value(), column({3.7391412702}), kLimits);
  check_running(layer, row({0.56}), row({1.41}), 2);
}

TEST_CASE("BatchNorm: a channel with fewer than two values is refused in training, and nothing is tracked") {
  ParamStore store;
  BatchNorm layer(store.root(), 2);
  for (const Shape& shape : {Shape{1, 2}, Shape{1, 1, 2}, Shape{0, 2}, Shape{3, 0, 2}})
    check_throws<ValueError>([&] { layer(Tensor::ones(shape)); },
                             "expected more than one value in each channel in training");
  check_running(layer, row({0, 0}), row({1, 1}), 0);
  store.eval();
  CHECK(layer(Tensor::ones({0, 2})).shape() == Shape{0, 2});
  CHECK(layer(Tensor::ones({1, 2})).shape() == Shape{1, 2});
}

TEST_CASE("BatchNorm: a batch whose statistics are not finite leaves the running ones unchanged") {
  ParamStore store;
  BatchNorm layer(store.root(), 2);
  layer(Tensor(array({2, 2}, {1, 2, 3, 6})));
  const Array mean = layer.running_mean.value(), variance = layer.running_var.value();
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    layer(Tensor(array({2, 2}, {1, bad, 3, 4})));
    check_running(layer, mean, variance, 1);
  }
}

TEST_CASE("BatchNorm: cumulative statistics are the average over batches") {
  ParamStore store;
  BatchNorm layer(store.root(), 1, {.cumulative = true});
  layer(Tensor(column({1, 3})));  // mean 2, unbiased variance 2
  check_running(layer, row({2}), row({2}), 1);
  layer(Tensor(column({4, 8})));  // mean 6, unbiased variance 8
  check_running(layer, row({4}), row({5}), 2);
  layer(Tensor(column({0, 2})));  // mean 1, unbiased variance 2
  check_running(layer, row({3}), row({4}), 3);
}

TEST_CASE("BatchNorm: momentum 0 keeps the running statistics, momentum 1 takes those of the last batch") {
  ParamStore store;
  BatchNorm keeps(store.root() / "keeps", 1, {.momentum = 0}), takes(store.root() / "takes", 1, {.momentum = 1});
  const Tensor x(column({1, 3}));
  keeps(x);
  takes(x);
  check_running(keeps, row({0}), row({1}), 1);
  check_running(takes, row({2}), row({2}), 1);
}

TEST_CASE("BatchNorm: sequences are normalized over batch and time") {
  ParamStore store;
  BatchNorm flat(store.root() / "flat", 4), deep(store.root() / "deep", 4);
  const Array x = sample({6, 4}, 8, -1, 3);
  Array folded = x;
  folded.reshape({2, 3, 4});
  Array want = flat(Tensor(x)).value();
  want.reshape({2, 3, 4});
  check_equal(deep(Tensor(folded)).value(), want);
  check_equal(deep.running_mean.value(), flat.running_mean.value());
  check_equal(deep.running_var.value(), flat.running_var.value());
}

TEST_CASE("BatchNorm: in training an output depends on its own column only, exactly") {
  ParamStore store;
  BatchNorm layer(store.root(), 3);
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(sample({4, 3}, 2)), y = layer(x);
  for (std::size_t j = 0; j < 3; ++j) {
    Array seed = Tensor::zeros({4, 3}).value();
    seed(1, j) = 1;
    tape.backward(y, seed);
    const Array grad = tape.grad(x);
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 3; ++c) CHECK((grad(r, c) == 0) == (c != j));
  }
}

TEST_CASE("BatchNorm: in evaluation rows are independent, and gradients pass through fixed statistics") {
  ParamStore store;
  BatchNorm layer(store.root(), 2, {.eps = 0});
  layer.running_mean.set_value(row({1, 2}));
  layer.running_var.set_value(row({4, 0.25}));
  layer.weight.set_value(row({3, 5}));
  store.eval();
  Tape tape;
  const Tensor x = tape.variable(array({2, 2}, {3, 3, 1, 2}));
  const Tensor y = layer(x);
  check_near(y.value(), array({2, 2}, {3, 10, 0, 0}), kLimits);
  tape.backward(sum(y));
  check_near(tape.grad(x), array({2, 2}, {1.5, 10, 1.5, 10}), kLimits);
  check_near(layer.weight.grad(), row({1, 2}), kLimits);
  check_near(layer.bias.grad(), row({2, 2}), kLimits);
}

TEST_CASE("BatchNorm: names and shapes are PyTorch's; buffers are saved, not trained and not decayed") {
  ParamStore store;
  BatchNorm layer(store.root() / "norm", 3);
  BatchNorm plain(store.root() / "plain", 3, {.affine = false});
  std::vector<std::string> parameters, buffers, counters;
  for (const Parameter& p : store.parameters()) parameters.push_back(p.name());
  for (const Buffer& b : store.buffers()) buffers.push_back(b.name());
  for (const IntegerBuffer& b : store.integer_buffers()) counters.push_back(b.name());
  CHECK(parameters == std::vector<std::string>{"norm.weight", "norm.bias"});
  CHECK(buffers ==
        std::vector<std::string>{"norm.running_mean", "norm.running_var", "plain.running_mean", "plain.running_var"});
  CHECK(counters == std::vector<std::string>{"norm.num_batches_tracked", "plain.num_batches_tracked"});
  CHECK(layer.num_batches_tracked.value().dimension() == 0);
  CHECK_FALSE(layer.weight.decays());

  const Tensor x(sample({4, 3}, 1));
  layer(x);
  const Snapshot snapshot = store.snapshot();
  const Array mean = layer.running_mean.value();
  layer(x);
  CHECK(layer.running_mean.value() != mean);
  store.restore(snapshot);
  check_running(layer, mean, snapshot.buffers[1].second, 1);
}

TEST_CASE("BatchNorm: the counter of batches goes on past the integers of float, and past those of double") {
  for (const index_t start : {index_t{1} << 24, (index_t{1} << 53) + 1}) {
    ParamStore store;
    BatchNorm layer(store.root(), 2, {.cumulative = true});
    layer.num_batches_tracked.set_value(full_array<IndexArray>({}, start));
    for (int i = 0; i < 3; ++i) layer(Tensor(array({2, 2}, {1, 2, 2, 4})));
    CHECK(layer.num_batches_tracked.value()() == start + 3);
    CHECK(store.integer_buffer("num_batches_tracked").value()() == start + 3);
    const Snapshot snapshot = store.snapshot();
    layer(Tensor(array({2, 2}, {1, 2, 2, 4})));
    store.restore(snapshot);
    CHECK(layer.num_batches_tracked.value()() == start + 3);
  }
}

TEST_CASE("BatchNorm: running statistics at the end of the range stay finite") {
  const double most = kDouble ? 1.6e308 : 3e38;
  ParamStore store;
  BatchNorm layer(store.root(), 1, {.momentum = 0.5});
  layer.running_mean.set_value(row({-most}));
  layer(Tensor(column({most, most})));
  check_near(layer.running_mean.value(), row({0}));
}

TEST_CASE("BatchNorm: an input without channels is refused with its reason") {
  ParamStore store;
  check_throws<ShapeError>([] { batch_norm(Tensor::zeros({7, 0})); },
                           "[batch_norm] expected x [..., C] with C at least 1, got (7,0)");
  check_throws<ShapeError>([] { batch_norm_eval(Tensor::zeros({7, 0}), empty_array({0}), empty_array({0})); },
                           "[batch_norm_eval] expected x [..., C] with C at least 1, got (7,0)");
}

TEST_CASE("BatchNorm refuses invalid options and inputs") {
  ParamStore store;
  const Scope n = store.root() / "n";
  check_throws<ValueError>([&] { BatchNorm layer(n, 0); }, "[batch_norm n] expected a width of at least 1, got 0");
  check_throws<ValueError>([&] { BatchNorm layer(n, 2, {.eps = -1}); }, "expected an eps of at least 0, got");
  for (double bad : {-0.1, 1.1, std::nan("")})
    check_throws<ValueError>([&] { BatchNorm layer(n, 2, {.momentum = bad}); }, "expected a momentum from 0 to 1, got");
  CHECK(store.entries().empty());
  CHECK(store.buffers().empty());
  CHECK(store.integer_buffers().empty());
  BatchNorm layer(n, 2);
  for (const Shape& bad : {Shape{2}, Shape{4, 3}, Shape{2, 2, 2, 2}})
    check_throws<ShapeError>([&] { layer(Tensor::ones(bad)); }, "expected x [B, C] or [B, T, C] with C = 2, got");
  check_running(layer, row({0, 0}), row({1, 1}), 0);
}

// What the log tells of inputs, targets, modes, units and weights, computed anew.
#include <xtape/core/ops.hpp>
#include <xtape/inspect/run/reader.hpp>
#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/dropout.hpp>
#include <xtape/nn/embedding.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/linear.hpp>
#include <xtape/optim/adam.hpp>
#include <xtape/optim/sgd.hpp>
#include <xtape/train/program.hpp>

#include "child_process.hpp"
#include "step_probe_support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Steps of a run without a console, read again at the end.
struct SignalRun {
  TemporaryDirectory work;
  std::unique_ptr<RunLog> log;

  explicit SignalRun(const ParamStore& store, index_t steps = 100) {
    const RunDescription run{.program = "signals", .steps = steps, .directory = work.path() + "/run"};
    log = std::make_unique<RunLog>(run, store, RunLogOptions{.interval = 1, .console = false});
  }
  std::vector<StepRecord> steps() {
    log->finish();
    return read_run(work.path() + "/run").steps;
  }
};

}  // namespace

TEST_CASE("the input's mean, deviation and range are those of what the first layer gets") {
  ParamStore store(1);
  const Linear first(store.root() / "first", 3, 4), second(store.root() / "second", 4, 2);
  Attached attached;
  Array x = sample({5, 3}, 1, -2, 6);
  const auto probed = [&] {
    Tape tape;
    tape.backward(sum(second(tanh(first(Tensor(x))))));
  };
  probed();
  double mean = 0, squares = 0, low = kInf, high = -kInf;
  for (const real value : x) {
    const auto v = static_cast<double>(value);
    mean += v / static_cast<double>(x.size());
    low = std::min(low, v);
    high = std::max(high, v);
  }
  for (const real value : x) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  const InputStats input = attached.record(store).input.value();
  check_near(input.mean.value(), mean, kClose);
  check_near(input.stddev.value(), std::sqrt(squares / static_cast<double>(x.size())), kClose);
  CHECK(input.low == low);
  CHECK(input.high == high);
  CHECK(input.nonfinite == 0);
  CHECK(input.repeats == 0);
  x(1, 1) = std::numeric_limits<real>::quiet_NaN();
  attached.probe->begin(true);
  probed();
  const InputStats broken = attached.record(store).input.value();
  CHECK(broken.nonfinite == 1);
  CHECK(!broken.mean);
  CHECK(broken.high == high);
}

TEST_CASE("batches that equal the measured batch before are counted") {
  ParamStore store(1);
  const Embedding table(store.root() / "embedding", 9, 4);
  Attached attached;
  std::vector<index_t> repeats;
  for (const index_t vocabulary : {5, 5, 5, 7, 5}) {
    attached.probe->begin(true);
    {
      Tape tape;
      tape.backward(sum(table(ids_of(2, 6, vocabulary))));
    }
    const InputStats input = attached.record(store).input.value();
    CHECK(!input.mean);  // ids have no size
    repeats.push_back(input.repeats);
  }
  CHECK((repeats == std::vector<index_t>{0, 1, 2, 0, 0}));
}

TEST_CASE("targets that count, dropout and the evaluation mode are told") {
  ParamStore store(1);
  const Linear layer(store.root() / "fc", 3, 4);
  const BatchNorm norm(store.root() / "norm", 4);
  const Dropout drop(store.root() / "drop", 0.25), none(store.root() / "none", 0);
  Attached attached;
  const auto probed = [&] {
    attached.probe->begin(true);
    Tape tape;
    const Tensor logits = none(drop(norm(layer(Tensor(sample({6, 3}, 1))))));
    tape.backward(cross_entropy(logits, indices({6}, {0, kIgnore, 3, 1, kIgnore, 2})));
    return attached.record(store);
  };
  const StepRecord training = probed();
  CHECK(training.classes == 4);
  CHECK(training.targets == 4);
  CHECK(training.dropout == 0.25);
  CHECK(!training.evaluation);
  store.eval();
  const StepRecord evaluation = probed();
  CHECK(!evaluation.dropout);
  CHECK(evaluation.evaluation);
}

TEST_CASE("a relu unit is dead lately if it is 0 in each of the last eight measured batches") {
  ParamStore store(1);
  Attached attached;
  std::vector<double> dead, lately;
  for (int batch = 0; batch < 12; ++batch) {
    attached.probe->begin(true);
    // Unit 0 always fires, unit 1 in the first batch only, unit 2 in every second, unit 3 never.
    Array x = full_array({2, 4}, -1);
    x(0, 0) = 1;
    if (batch == 0) x(0, 1) = 1;
    if (batch % 2 == 0) x(1, 2) = 1;
    {
      Tape tape;
      (void)relu(tape.variable(x));
    }
    const UnitStats units = at(attached.record(store).units, "relu");
    dead.push_back(*units.dead);
    lately.push_back(*units.dead_lately);
    CHECK(units.batches == std::min(batch + 1, 8));
    CHECK(units.rows == 2 * units.batches);
  }
  CHECK((dead == std::vector<double>{.25, .75, .5, .75, .5, .75, .5, .75, .5, .75, .5, .75}));
  CHECK((lately == std::vector<double>{.25, .25, .25, .25, .25, .25, .25, .25, .5, .5, .5, .5}));
}

TEST_CASE("the largest magnitude of a layer's output is told, and nothing if a value is not finite") {
  ParamStore store(1);
  const Linear layer(store.root() / "fc", 2, 2, {.bias = false});
  Parameter(layer.weight).set_value(array({2, 2}, {1, 0, 0, -3}));
  Attached attached;
  for (const double x : {5.0, kInf}) {
    attached.probe->begin(true);
    {
      Tape tape;
      (void)layer(Tensor(array({1, 2}, {2, x})));
    }
    const std::optional<double> largest = at(attached.record(store).layers, "fc").largest;
    CHECK(largest == (std::isinf(x) ? std::nullopt : std::optional(15.0)));
  }
}

TEST_CASE("the log tells the optimizer, its decay, and parameters that it does not have") {
  ParamStore store(1);
  const Linear in(store.root() / "in", 3, 4), out(store.root() / "out", 4, 2);
  AdamW optimizer({{.name = "in", .parameters = {in.weight, in.bias}, .weight_decay = 0.5, .lr_scale = 2}});
  SignalRun run(store);
  for (index_t step = 0; step < 2; ++step) {
    {
      Tape tape;
      tape.backward(sum(out(in(Tensor(sample({5, 3}, 1))))));
    }
    optimizer.step(0.01);
    run.log->step(step, {.loss = 1, .lr = 0.01, .extra = {{"accuracy", 0.5}, {"broken", kNaN}}}, optimizer);
    store.zero_grad();
  }
  const std::vector<StepRecord> steps = run.steps();
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].optimizer.value().name == "adamw");
  bool any = false;
  for (const auto& [name, value] : steps[0].optimizer.value().options) any = any || (name == "beta1" && value == 0.9);
  CHECK(any);
  CHECK(!steps[1].optimizer);
  const ParameterStats& weight = at(steps[1].parameters, "in.weight");
  check_near(*weight.decay_norm, 0.01 * 2 * 0.5 * norm_of(in.weight.value()), kClose);
  CHECK(weight.lr_scale == 2);
  CHECK(!weight.unoptimized);
  CHECK(at(steps[1].parameters, "out.weight").unoptimized);
  CHECK(!at(steps[1].parameters, "out.weight").decay_norm);
  REQUIRE(steps[1].extra.size() == 2);
  CHECK(steps[1].extra[0] == std::pair<std::string, double>("accuracy", 0.5));
  CHECK(std::isnan(steps[1].extra[1].second));
}

TEST_CASE("the log counts steps that changed no parameter, equal rows and rows without a gradient") {
  ParamStore store(1);
  const Embedding table(store.root() / "table", 8, 4);
  const Linear equal(store.root() / "equal", 4, 5, {.weight_init = init::constant(0.5)});
  SGD optimizer(all_parameters(store));
  SignalRun run(store);
  for (index_t step = 0; step < 4; ++step) {
    {
      Tape tape;
      const Tensor y = equal(table(indices({3}, {0, 1, step})));
      tape.backward(sum(y * y));
    }
    if (step > 1) optimizer.step(0.01);
    run.log->step(step, {.loss = 1, .lr = 0.01}, optimizer);
    store.zero_grad();
  }
  const std::vector<StepRecord> steps = run.steps();
  REQUIRE(steps.size() == 4);
  const std::vector<index_t> still = {1, 1, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(steps[i].interval.still == still[i]);
    CHECK(at(steps[i].parameters, "equal.weight").equal_rows.has_value() == (i < 2));
  }
  CHECK(at(steps[0].parameters, "equal.weight").equal_rows == 1);
  check_near(*at(steps[1].parameters, "table.weight").untouched_rows, 6.0 / 8, {1e-12, 0});
  check_near(*at(steps[3].parameters, "table.weight").untouched_rows, 4.0 / 8, {1e-12, 0});
  CHECK(!at(steps[3].parameters, "equal.weight").untouched_rows);
  CHECK(steps[0].interval.cosines == 0);
  CHECK(std::isnan(steps[0].interval.grad_cosine));
  CHECK(steps[1].interval.cosines == 1);
  CHECK(steps[1].interval.grad_cosine > 0.9);
}

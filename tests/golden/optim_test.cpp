// Optimizers, clipping and schedules against golden values, at each of twenty steps.
#include "tables.hpp"

#include <xtape/optim/sgd.hpp>

#include <memory>

namespace xtape::test {

namespace {

constexpr double kRate = 0.0625;

using Step = std::function<void(double lr)>;

/// The name of a trajectory, and a function that makes its optimizer over the parameters "weight" [2, 3] and "bias"
/// [3].
struct Trajectory {
  std::string name;
  std::function<Step(ParamStore& store)> make;
};

template <class Optimizer, class Options>
Step stepper(std::vector<ParamGroup> groups, const Options& options) {
  const auto optimizer = std::make_shared<Optimizer>(std::move(groups), options);
  return [optimizer](double lr) { REQUIRE(optimizer->step(lr)); };
}

template <class Optimizer, class Options>
Trajectory trajectory(const char* name, const Options& options, double weight_decay = 0) {
  return {name, [=](ParamStore& store) { return stepper<Optimizer>(all_parameters(store, weight_decay), options); }};
}

Step two_groups(ParamStore& store) {
  return stepper<AdamW>(
      std::vector<ParamGroup>{{.name = "weights", .parameters = store.parameters("weight"), .weight_decay = 0.125},
                              {.name = "biases", .parameters = store.parameters("bias"), .lr_scale = 0.25}},
      AdamOptions{});
}

std::vector<Trajectory> sgd_trajectories() {
  const SgdOptions momentum = {.momentum = 0.875}, nesterov = {.momentum = 0.875, .nesterov = true};
  const AveragedSgdOptions plain = {.beta = 0.875}, corrected = {.beta = 0.875, .bias_correction = true};
  return {
      trajectory<SGD>("SGD/plain", SgdOptions{}),
      trajectory<SGD>("SGD/momentum", momentum),
      trajectory<SGD>("SGD/momentum, changing rate", momentum),
      trajectory<SGD>("SGD/dampening", SgdOptions{.momentum = 0.875, .dampening = 0.25}),
      trajectory<SGD>("SGD/nesterov", nesterov),
      trajectory<SGD>("SGD/L2", SgdOptions{}, 0.125),
      trajectory<SGD>("SGD/momentum and L2", momentum, 0.125),
      trajectory<SGD>("SGD/nesterov and L2", nesterov, 0.125),
      trajectory<SGDW>("SGDW/plain", SgdOptions{}, 0.125),
      trajectory<SGDW>("SGDW/momentum", momentum, 0.125),
      trajectory<SGDW>("SGDW/nesterov", nesterov, 0.125),
      trajectory<AveragedSGD>("AveragedSGD/plain", plain),
      trajectory<AveragedSGD>("AveragedSGD/corrected", corrected),
      trajectory<AveragedSGD>("AveragedSGD/corrected, changing rate", corrected),
      trajectory<AveragedSGD>("AveragedSGD/L2", corrected, 0.125),
      trajectory<AveragedSGDW>("AveragedSGDW/corrected", corrected, 0.125),
  };
}

std::vector<Trajectory> adam_trajectories() {
  return {
      trajectory<Adam>("Adam/plain", AdamOptions{}),
      trajectory<Adam>("Adam/L2", AdamOptions{}, 0.125),
      trajectory<Adam>("Adam/betas and eps", AdamOptions{.beta1 = 0.75, .beta2 = 0.9375, .eps = 0.0625}),
      trajectory<AdamW>("AdamW/plain", AdamOptions{}, 0.125),
      trajectory<AdamW>("AdamW/changing rate", AdamOptions{}, 0.125),
      {"AdamW/two groups", two_groups},
  };
}

/// Row `step` of an array [steps, ...].
Array row_of(const GoldenArray& rows, std::size_t step) {
  Array out = empty_array(Shape(rows.shape.begin() + 1, rows.shape.end()));
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<real>(rows.numbers[step * out.size() + i]);
  return out;
}

GoldenArray step_of(const GoldenArray& rows, std::size_t step) {
  GoldenArray out{rows.section,
                  rows.name + " after step " + std::to_string(step + 1),
                  Shape(rows.shape.begin() + 1, rows.shape.end()),
                  {}};
  const auto size = static_cast<std::size_t>(element_count(out.shape));
  const auto first = rows.numbers.begin() + static_cast<std::ptrdiff_t>(step * size);
  out.numbers.assign(first, first + static_cast<std::ptrdiff_t>(size));
  return out;
}

GoldenResult run(const Trajectory& entry) {
  const GoldenValues& values = golden_values(entry.name);
  ParamStore store;
  for (const char* name : {"weight", "bias"}) {
    const Array start = values.get("fixed", std::string(name) + "0").array();
    store.root().parameter(name, start.shape(), [&](Array& value, Random&) { value = start; });
  }
  const Step step = entry.make(store);
  const GoldenArray* rates = values.find("fixed", "rates");
  GoldenResult result;
  for (std::size_t t = 0; t < 20; ++t) {
    store.zero_grad();
    for (Parameter p : store.parameters())
      if (t != 7 || p.name() != "bias") p.set_grad(row_of(values.get("fixed", p.name() + "_grad"), t));
    step(rates ? rates->numbers[t] : kRate);
    for (const Parameter& p : store.parameters()) result.compare(p.value(), step_of(values.get("out", p.name()), t));
  }
  return result;
}

/// The rates of one schedule at steps 0, 1, ...
struct Schedule {
  std::string name;
  std::function<double(index_t step)> rate;
};

std::vector<Schedule> schedules() {
  const auto table = [](const char* name, auto function, auto options) {
    return Schedule{name, [=](index_t step) { return function(step, options); }};
  };
  constexpr double peak = 0.5, floor = 0.0625;
  return {
      table("constant/warm-up", constant, ConstantSchedule{.warmup = 4, .peak = peak}),
      table("linear_decay/no warm-up", linear_decay, DecaySchedule{.total = 20, .peak = peak, .floor = floor}),
      table("linear_decay/warm-up", linear_decay,
            DecaySchedule{.warmup = 4, .total = 20, .peak = peak, .floor = floor}),
      table("cosine/no warm-up", cosine, DecaySchedule{.total = 20, .peak = peak}),
      table("cosine/warm-up and floor", cosine, DecaySchedule{.warmup = 4, .total = 20, .peak = peak, .floor = floor}),
      table("step_decay/every six", step_decay, StepSchedule{.every = 6, .peak = peak, .factor = 0.25}),
      table("exponential_decay/no warm-up", exponential_decay, ExponentialSchedule{.peak = peak, .factor = 0.875}),
      table("exponential_decay/warm-up and floor", exponential_decay,
            ExponentialSchedule{.warmup = 4, .peak = peak, .factor = 0.875, .floor = 0.125}),
      table("one_cycle/PyTorch's defaults", one_cycle, OneCycleSchedule{.total = 26, .peak = peak}),
      table("one_cycle/half up", one_cycle,
            OneCycleSchedule{.total = 26, .peak = peak, .rise = 0.5, .start = 0.125, .finish = 0.0625}),
      table("warmup_stable_decay/five fall", warmup_stable_decay,
            WarmupStableDecaySchedule{.warmup = 4, .total = 20, .decay = 5, .peak = peak, .floor = floor}),
      table("inverse_sqrt/warm-up", inverse_sqrt, InverseSqrtSchedule{.warmup = 4, .peak = peak}),
      table("inverse_sqrt/no warm-up", inverse_sqrt, InverseSqrtSchedule{.peak = peak}),
  };
}

void check_errors(const GoldenErrors& errors) {
  for (const auto& [name, error] : errors) {
    INFO(name, ": error ", error);
    CHECK(error <= GoldenLimits{}.here());
  }
}

}  // namespace

GoldenErrors optimizer_golden_errors() {
  GoldenErrors out;
  for (const auto& table : {sgd_trajectories(), adam_trajectories()})
    for (const Trajectory& entry : table) out.emplace_back(entry.name, run(entry).worst);
  return out;
}

GoldenErrors schedule_golden_errors() {
  GoldenErrors out;
  for (const Schedule& entry : schedules()) {
    const GoldenArray& want = golden_values(entry.name).get("out", "rate");
    GoldenErrors::value_type error{entry.name, 0};
    for (std::size_t step = 0; step < want.numbers.size(); ++step)
      error.second = std::max(error.second, std::abs(entry.rate(static_cast<index_t>(step)) - want.numbers[step]));
    out.push_back(error);
  }
  return out;
}

TEST_CASE("optimizers follow golden trajectories") { check_errors(optimizer_golden_errors()); }

TEST_CASE("schedules agree with golden values") { check_errors(schedule_golden_errors()); }

TEST_CASE("gradient clipping agrees with golden values") {
  using Clip = double (*)(const std::vector<Parameter>&, double);
  const std::pair<const char*, Clip> cases[] = {{"clip_grad_norm/over the limit", clip_grad_norm},
                                                {"clip_grad_norm/under the limit", clip_grad_norm},
                                                {"clip_grad_value/half", clip_grad_value}};
  for (const auto& [name, clip] : cases) {
    const GoldenValues& values = golden_values(name);
    std::vector<Parameter> parameters;
    for (const char* parameter : {"weight", "bias"}) {
      const Array grad = values.get("fixed", parameter).array();
      parameters.emplace_back(parameter, empty_array(grad.shape()));
      parameters.back().set_grad(grad);
    }
    const double norm = clip(parameters, values.get("fixed", "limit").numbers[0]);
    GoldenResult result;
    result.compare(Tensor::scalar(static_cast<real>(norm)).value(), values.get("out", "norm"));
    for (const Parameter& p : parameters) result.compare(p.grad(), values.get("out", p.name()));
    INFO(name, ": error ", result.worst, "; ", result.where);
    CHECK(result.worst <= GoldenLimits{}.here());
  }
}

}  // namespace xtape::test

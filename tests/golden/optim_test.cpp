// Optimizers, clipping and schedules against golden values: every step of twenty.
#include "tables.hpp"

#include <memory>

namespace xtape::test {

namespace {

constexpr double kRate = 0.0625;

using Step = std::function<void(double lr)>;

/// A trajectory's name, and how to make its optimizer over parameters "weight" [2, 3] and "bias" [3].
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

std::vector<Trajectory> trajectories() {
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
  Array out(Shape(rows.shape.begin() + 1, rows.shape.end()));
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

/// Rates of one schedule at steps 0, 1, ...
struct Schedule {
  std::string name;
  std::function<double(index_t step)> rate;
};

std::vector<Schedule> schedules() {
  return {
      {"cosine/no warm-up", [](index_t s) { return cosine(s, {.total = 20, .peak = 0.5}); }},
      {"cosine/warm-up and floor",
       [](index_t s) { return cosine(s, {.warmup = 4, .total = 20, .peak = 0.5, .floor = 0.0625}); }},
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
  for (const Trajectory& entry : trajectories()) out.emplace_back(entry.name, run(entry).worst);
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
  for (const char* name : {"clip_grad_norm/over the limit", "clip_grad_norm/under the limit"}) {
    const GoldenValues& values = golden_values(name);
    std::vector<Parameter> parameters;
    for (const char* parameter : {"weight", "bias"}) {
      const Array grad = values.get("fixed", parameter).array();
      parameters.emplace_back(parameter, Array(grad.shape()));
      parameters.back().set_grad(grad);
    }
    const double norm = clip_grad_norm(parameters, values.get("fixed", "limit").numbers[0]);
    GoldenResult result;
    result.compare(Tensor::scalar(static_cast<real>(norm)).value(), values.get("out", "norm"));
    for (const Parameter& p : parameters) result.compare(p.grad(), values.get("out", p.name()));
    INFO(name, ": error ", result.worst, "; ", result.where);
    CHECK(result.worst <= GoldenLimits{}.here());
  }
}

}  // namespace xtape::test

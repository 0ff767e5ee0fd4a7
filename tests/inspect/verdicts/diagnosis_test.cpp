// The first cause of what is wrong with a run whose truth is known, and silence about healthy runs.
#include <xtape/inspect/verdicts/diagnosis.hpp>

#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

Diagnosis diagnosis_of(const TemporaryDirectory& work, const MadeRun& run) {
  static int number = 0;
  return diagnose(read_run(run.write(work, "diagnosis" + std::to_string(++number))));
}

struct Planted {
  std::string cause;
  std::function<void(StepRecord&, double part)> change;
};

double stuck(double part) { return std::log(65.0) * (1 + 0.003 * std::sin(40 * part)); }

std::vector<Planted> planted() {
  const auto all = [](StepRecord& r, const std::function<void(ParameterStats&)>& change) {
    for (ParameterStats& p : r.parameters) change(p);
  };
  return {
      {"impossible_loss", [](StepRecord& r, double part) { r.loss = 1 - 5 * part; }},
      {"constant_loss",
       [](StepRecord& r, double) {
         r.loss = 0;
         r.targets = 0;
       }},
      {"no_gradient", [](StepRecord& r, double) { r.grad_norm = 0; }},
      {"no_gradient", [](StepRecord& r, double) { r.parameters[1].grad_norm = 0; }},
      {"rate_zero",
       [](StepRecord& r, double part) {
         if (part < 0.5) return;
         r.lr = 0;
         r.interval.still = r.interval.steps;
       }},
      {"no_update", [](StepRecord& r, double) { r.interval.still = r.interval.steps; }},
      {"not_in_optimizer",
       [](StepRecord& r, double) {
         r.parameters[2].unoptimized = true;
         r.parameters[2].update_norm = r.parameters[2].update_ratio = 0;
       }},
      {"evaluation_mode", [](StepRecord& r, double part) { r.evaluation = part > 0.3; }},
      {"nonfinite_input",
       [](StepRecord& r, double part) {
         r.input = InputStats{.nonfinite = part > 0.5 ? 3 : 0};
         if (part > 0.5) r.loss = r.grad_norm = kNaN;
       }},
      {"input_scale", [](StepRecord& r, double) { r.input = InputStats{1e4, 1e3, 0, 2e4}; }},
      {"zero_weights",
       [](StepRecord& r, double) {
         if (r.step == 0) r.parameters[0].weight_norm = r.parameters[1].weight_norm = 0;
       }},
      {"equal_units",
       [](StepRecord& r, double) {
         if (r.step == 0) r.parameters[1].equal_rows = 1;
       }},
      {"gradients_not_cleared",
       [](StepRecord& r, double part) {
         r.grad_norm *= 1 + 50 * part;
         r.interval.grad_cosine = 0.98;
         r.interval.cosines = r.interval.steps;
       }},
      {"uneven_rate", [](StepRecord& r, double) { r.parameters[1].lr_scale = 0.01; }},
      {"too_much_dropout",
       [](StepRecord& r, double part) {
         r.dropout = 0.95;
         r.loss = stuck(part);
       }},
      {"decay_too_large",
       [all](StepRecord& r, double part) {
         r.loss = stuck(part);
         r.optimizer = OptimizerInfo{"adamw"};
         all(r, [](ParameterStats& p) { p.decay_norm = 0.9 * p.update_norm; });
       }},
      {"momentum_too_high",
       [](StepRecord& r, double part) {
         r.optimizer = OptimizerInfo{"sgd", {{"momentum", 0.999}}};
         r.loss = 4.17 - 2 * std::sin(6.28 * part);
       }},
      {"attention_saturated",
       [](StepRecord& r, double) {
         if (r.step == 0) r.attention = {{"attn", {0.1}, {0.02}, {600}}};
       }},
      {"weights_too_large",
       [](StepRecord& r, double) {
         if (r.step != 0) return;
         r.loss = 40;
         r.layers[2].largest = 500;
       }},
      {"rate_too_high",
       [all](StepRecord& r, double part) {
         if (part > 0) r.loss = 9;
         all(r, [](ParameterStats& p) { p.update_ratio = 0.6; });
       }},
      {"rate_too_low",
       [all](StepRecord& r, double part) {
         r.loss = stuck(part);
         all(r, [](ParameterStats& p) { p.update_ratio *= 1e-2; });
       }},
      {"layer_nonfinite",
       [](StepRecord& r, double part) {
         if (part < 0.8) return;
         r.loss = r.grad_norm = kNaN;
         r.layers[1].mean = r.layers[2].mean = kNaN;
       }},
      {"dead_units",
       [](StepRecord& r, double part) {
         r.loss = stuck(part);
         r.units[0].dead_lately = 0.9;
         r.units[0].rows = 512;
       }},
      {"vanishing_depth",
       [](StepRecord& r, double part) {
         r.loss = stuck(part);
         r.layers[0].output_grad_norm = 1e-6;
       }},
      {"exploding_time",
       [](StepRecord& r, double) {
         if (r.step == 0) r.times[0].by_lag[0].norms = {1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683};
       }},
      {"late_divergence", [](StepRecord& r, double part) { r.loss *= part > 0.7 ? 2 : 1; }},
      {"spike",
       [](StepRecord& r, double) {
         if (r.step == 500) r.interval.grad_norm_max = 100 * r.grad_norm;
       }},
      {"validation_nonfinite", [](StepRecord& r, double part) { r.validation_loss = part > 0.5 ? kNaN : r.loss; }},
      {"overfitting",
       [](StepRecord& r, double part) {
         r.loss = 4.17 * std::exp(-8 * part);
         r.validation_loss = std::max(r.loss, 1.5) + part;
       }},
      {"validation_mismatch",
       [](StepRecord& r, double part) {
         r.loss = 4.17 * std::exp(-8 * part);
         r.validation_loss = 4.2 + part;
       }},
      {"stuck_at_chance", [](StepRecord& r, double part) { r.loss = stuck(part); }},
  };
}

}  // namespace

TEST_CASE("the diagnosis names the planted cause first") {
  const TemporaryDirectory work;
  for (const Planted& fault : planted()) {
    const Diagnosis diagnosis = diagnosis_of(work, {.change = fault.change});
    REQUIRE_MESSAGE(diagnosis.cause, fault.cause);
    CHECK(diagnosis.cause->id == fault.cause);
    CHECK(!diagnosis.cause->answer.empty());
    CHECK(!diagnosis.cause->evidence.empty());
    CHECK(!diagnosis.cause->remedy.empty());
  }
}

TEST_CASE("the diagnosis says nothing about healthy runs") {
  const TemporaryDirectory work;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Diagnosis diagnosis =
        diagnosis_of(work, {.steps = 5 + 3 * static_cast<index_t>(seed), .decay = 0.5 + 0.0125 * seed, .seed = seed});
    CHECK_MESSAGE(!diagnosis.cause, seed, ": ", diagnosis.cause ? diagnosis.cause->id : "");
    CHECK(diagnosis.consequences.empty());
  }
}

TEST_CASE("an early cause stands before its consequences") {
  const TemporaryDirectory work;
  const Diagnosis diagnosis = diagnosis_of(work, {.change = [](StepRecord& r, double part) {
                                             r.loss = part > 0 ? 9 : 4.17;
                                             for (ParameterStats& p : r.parameters) p.update_ratio = 0.6;
                                             r.units[0].dead_lately = 0.9;
                                             r.units[0].rows = 512;
                                             r.layers[0].output_grad_norm = 1e-6;
                                           }});
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "rate_too_high");
  CHECK(diagnosis.cause->step == index_t{10});  // the first with a rate above 0
  std::vector<std::string> then;
  for (const Verdict& v : diagnosis.consequences) then.push_back(v.id);
  CHECK((then == std::vector<std::string>{"dead_units", "vanishing_depth", "late_divergence"}));
}

TEST_CASE("a gated layer is not told to become one") {
  const TemporaryDirectory work;
  const auto fades = [](StepRecord& r, double part) {
    r.loss = stuck(part);
    r.times[0].by_lag[0].norms.assign(30, 1e-9);
    r.times[0].by_lag[0].norms[0] = 1;
  };
  const Diagnosis gated = diagnosis_of(work, {.change = fades});
  REQUIRE(gated.cause);
  CHECK(gated.cause->id == "vanishing_time");
  CHECK(gated.cause->layer == "rnn_l0");
  CHECK(gated.cause->remedy == "Start with a forget bias of 1 or more, or with open update gates.");
  const Diagnosis plain = diagnosis_of(work, {.change = [&](StepRecord& r, double part) {
                                         fades(r, part);
                                         r.units.pop_back();
                                       }});
  REQUIRE(plain.cause);
  CHECK(plain.cause->remedy == "Use an LSTM or a GRU, or an orthogonal start.");
}

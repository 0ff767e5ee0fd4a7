// A recurrent op outside the library, with a state of its own name: what the log keeps of it, and reads back.
#include <xtape/inspect/run/series.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;

namespace {

/// y_t = y_{t-1} / 2 + x_t for x [B, T], with the state "charge".
Tensor leaky(const Tensor& x) {
  const index_t batch = x.size(0), time = x.size(1);
  Array y = x.value();
  for (index_t b = 0; b < batch; ++b)
    for (index_t t = 1; t < time; ++t) y(b, t) += y(b, t - 1) / 2;
  if (Probe* probe = Probe::active())
    probe->on_units({"leak", "charge", -2, 2, y.data(), x.size(0), x.size(1), x.size(1)});
  return Tape::record("leaky", {x}, Tensor(std::move(y)), [batch, time](const Array& dy, Grads& g) {
    Array dx = dy, step = empty_array({batch, 1}), last = empty_array({batch});
    for (index_t b = 0; b < batch; ++b) last(b) = dy(b, time - 1);
    for (index_t t = time; t-- > 0;) {
      for (index_t b = 0; b < batch; ++b) {
        if (t + 1 < time) dx(b, t) += dx(b, t + 1) / 2;
        step(b, 0) = dx(b, t);
      }
      if (g.watches_steps()) g.step({"leak", "charge", t, step});
    }
    std::vector<double> lags;
    for (index_t t = 0; t < time; ++t) lags.push_back(norm(Tensor(last)).item() * std::pow(0.5, t));
    if (Probe* probe = g.probe()) probe->lag_norms({"leak", "charge", lags});
    g.add(0, dx);
  });
}

constexpr Limits kCsv = {1e-8, 0};  // nine digits

}  // namespace

TEST_CASE("a recurrent op of one's own is logged under the names of its states, and read back") {
  const TemporaryDirectory work;
  const std::string directory = work.path() + "/run";
  ParamStore store(1);
  const Parameter w = store.root().parameter("w", {2, 3}, init::constant(1));
  SGD opt(all_parameters(store));
  {
    RunLog log({.program = "own", .steps = 1, .directory = directory}, store, {.interval = 1, .console = false});
    Tape tape({.record_step_norms = true});
    const Tensor loss = sum(leaky(w));
    tape.backward(loss);
    REQUIRE(tape.grad_norms().size() == 3);
    CHECK(tape.grad_norms()[0].name == "leak");
    CHECK(tape.grad_norms()[0].stream == "charge");
    CHECK(tape.grad_norms()[0].time == 2);
    opt.step(0.1);
    log.step(0, {.loss = loss.item()}, opt);
    log.finish();
  }
  const double root = std::sqrt(2.0);
  const std::string rows = content_of(directory + "/grad_norms.csv");
  for (const char* row : {"\n0,charge_grad_norm,leak,0,2.4748", "\n0,charge_grad_norm,leak,1,2.1213",
                          "\n0,charge_grad_norm,leak,2,1.41421", "\n0,lag_charge_grad_norm,leak,2,0.35355"})
    CHECK(rows.find(row) != std::string::npos);
  CHECK(rows.find("hidden") == std::string::npos);
  const auto line = nlohmann::json::parse(content_of(directory + "/metrics.jsonl"));
  CHECK(line["times"]["leak"].size() == 2);
  CHECK(line["units"]["leak.charge"]["low"] == 0);
  CHECK(line["units"]["leak.charge"]["high"] == 0);

  const auto check = [&](const Limits& limits) {
    const RunData run = read_run(directory);
    REQUIRE(run.steps.size() == 1);
    const TimeStats times = run.steps.at(0).times.at(0);
    CHECK(times.name == "leak");
    REQUIRE(times.by_time.size() == 1);
    REQUIRE(times.by_lag.size() == 1);
    CHECK(times.by_time[0].name == "charge");
    CHECK(times.by_lag[0].name == "charge");
    const double norms[] = {1.75, 1.5, 1};
    for (std::size_t t = 0; t < 3; ++t) {
      check_near(times.by_time[0].norms.at(t), norms[t] * root, limits);
      check_near(times.by_lag[0].norms.at(t), std::pow(0.5, t) * root, limits);
    }
    const std::optional<LagCurve> curve = lag_curve(run, "leak");
    REQUIRE(curve.has_value());
    check_near(curve->rate, 0.5, limits);
  };
  check({tolerance(1e-12, 1e-6), 0});
  std::filesystem::remove(directory + "/metrics.jsonl");  // then the norms come from grad_norms.csv
  check({tolerance(kCsv.relative, 1e-6), 0});
}

TEST_CASE("streams keep the order in which they came, and their joint norm is over all states") {
  TimeStats times{"rnn"};
  *times.norms_of("lag_b_grad_norm") = {3, 5};
  *times.norms_of("a_grad_norm") = {1};
  *times.norms_of("lag_a_grad_norm") = {4, 12, 2};
  CHECK(times.norms_of("weight_norm") == nullptr);
  std::vector<std::string> kinds;
  for (const auto& [kind, norms] : times.kinds()) kinds.push_back(kind);
  CHECK(kinds == std::vector<std::string>{"a_grad_norm", "lag_b_grad_norm", "lag_a_grad_norm"});
  CHECK(times.lag_norms() == std::vector<double>{5, 13, 2});
}

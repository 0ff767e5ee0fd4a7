// Verdicts on runs whose truth is known, and false alarms on healthy ones.
#include <xtape/inspect/report/text_page.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>

#include "inspect/made_runs.hpp"

#include <cstdio>
#include <limits>
#include <map>
#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

std::map<std::string, Verdict> verdicts_of(const std::string& directory) {
  std::map<std::string, Verdict> out;
  for (const Verdict& v : judge(read_run(directory))) out.emplace(v.id, v);
  return out;
}

/// Names of the problems.
std::set<std::string> problems(const std::string& directory) {
  std::set<std::string> out;
  for (const auto& [id, v] : verdicts_of(directory))
    if (v.finding < Finding::fine) out.insert(id);
  return out;
}

struct Made {
  const char* title;
  MadeRun run;
  std::set<std::string> wanted;  ///< no more and no fewer
};

void set_lag(StepRecord& r, double rate, index_t until) {
  r.times[0].by_lag[0].norms.assign(1, 0.01);
  for (index_t lag = 1; lag < until; ++lag)
    r.times[0].by_lag[0].norms.push_back(r.times[0].by_lag[0].norms.back() * rate);
}

std::vector<Made> made_runs() {
  std::vector<Made> out;
  for (const double decay : {0.5, 0.6, 0.65, 0.7})
    out.push_back({"vanishing in time", {.decay = decay}, {"vanishing_time"}});
  for (const double decay : {0.75, 0.8, 0.9, 0.95, 1.0, 1.02, 1.05})
    out.push_back({"flowing in time", {.decay = decay}, {}});
  for (const double decay : {1.1, 1.2, 1.35, 1.5})
    out.push_back({"exploding in time", {.decay = decay}, {"exploding_time"}});
  out.push_back({"vanishing in a window of 12", {.decay = 0.6, .window = 12}, {"vanishing_time"}});
  out.push_back({"flowing in a window of 12", {.decay = 0.8, .window = 12}, {}});
  out.push_back({"a window of 5 says nothing", {.decay = 0.3, .window = 5}, {}});
  out.push_back({"a steep start, then a slow fall, is not vanishing",
                 {.change =
                      [](StepRecord& r, double) {
                        set_lag(r, 0.97, 64);
                        for (std::size_t lag = 1; lag < 64; ++lag) r.times[0].by_lag[0].norms[lag] *= 1e-3;
                      }},
                 {}});
  out.push_back({"exploding beyond the largest number",
                 {.change =
                      [](StepRecord& r, double) {
                        set_lag(r, 10, 64);
                        for (std::size_t lag = 40; lag < 64; ++lag) r.times[0].by_lag[0].norms[lag] = INFINITY;
                      }},
                 {"exploding_time"}});
  out.push_back({"vanishing by depth",
                 {.change = [](StepRecord& r, double) { r.layers[0].output_grad_norm = 1e-5; }},
                 {"vanishing_depth"}});
  out.push_back({"exploding by depth",
                 {.change = [](StepRecord& r, double) { r.layers[0].output_grad_norm = 30; }},
                 {"exploding_depth"}});
  out.push_back({"one spike",
                 {.change =
                      [](StepRecord& r, double) {
                        if (r.step == 700) r.grad_norm *= 8;
                      }},
                 {"spikes"}});
  out.push_back({"a spike between logged steps", {.events = {{403, "spike", "step 403: 9 times"}}}, {"spikes"}});
  out.push_back({"a spike of the loss",
                 {.change =
                      [](StepRecord& r, double) {
                        if (r.step == 500) r.loss = 4;
                      }},
                 {"spikes"}});
  out.push_back({"NaN to the end",
                 {.change =
                      [](StepRecord& r, double part) {
                        if (part > 0.8) r.loss = r.grad_norm = kNaN;
                      }},
                 {"finite"}});
  out.push_back({"one infinite gradient",
                 {.change =
                      [](StepRecord& r, double) {
                        if (r.step == 300) r.grad_norm = INFINITY;
                      }},
                 {"finite"}});
  out.push_back({"divergence",
                 {.change = [](StepRecord& r, double part) { r.loss *= std::exp(6 * std::max(0.0, part - 0.6)); }},
                 {"diverged"}});
  out.push_back(
      {"no learning",
       {.change = [](StepRecord& r, double part) { r.loss = std::log(65.0) * (1 + 0.003 * std::sin(40 * part)); }},
       {"learning"}});
  out.push_back({"a plateau from a third on",
                 {.change =
                      [](StepRecord& r, double part) {
                        r.loss = std::max(4.174 * std::exp(-3 * part), 1.53) * (1 + 1e-3 * std::sin(90 * part));
                      }},
                 {"learning"}});
  out.push_back({"a short run", {.steps = 3}, {}});
  out.push_back({"one step", {.steps = 1}, {}});
  out.push_back({"three steps, and NaN",
                 {.steps = 3,
                  .change =
                      [](StepRecord& r, double part) {
                        if (part == 1) r.loss = kNaN;
                      }},
                 {"finite"}});
  out.push_back({"dead units", {.change = [](StepRecord& r, double) { r.units[0].dead = 0.4; }}, {"dead_units"}});
  out.push_back(
      {"saturated states", {.change = [](StepRecord& r, double) { r.units[1].high = 0.5; }}, {"saturated_units"}});
  out.push_back({"gates that are open or shut", {.change = [](StepRecord& r, double) { r.units[2].high = 0.35; }}, {}});
  out.push_back({"clipping all the time",
                 {.change = [](StepRecord& r, double) { r.interval.clipped = r.interval.steps; }},
                 {"clipping"}});
  out.push_back({"clipping in the warm-up only",
                 {.change = [](StepRecord& r, double part) { r.interval.clipped = part < 0.1 ? r.interval.steps : 0; }},
                 {}});
  out.push_back({"weights that hardly move",
                 {.change =
                      [](StepRecord& r, double) {
                        for (auto& p : r.parameters) p.update_ratio *= 1e-2;
                      }},
                 {"update_ratio"}});
  out.push_back({"weights that jump",
                 {.change =
                      [](StepRecord& r, double) {
                        for (auto& p : r.parameters) p.update_ratio *= 100;
                      }},
                 {"update_ratio"}});
  out.push_back(
      {"a layer without gradient",
       {.change = [](StepRecord& r, double) { r.parameters[1].grad_norm = r.parameters[1].update_ratio = 0; }},
       {"still_layers"}});
  out.push_back({"a confident start",
                 {.change =
                      [](StepRecord& r, double) {
                        if (r.step == 0) r.loss = 9;
                      }},
                 {"untrained_loss"}});
  out.push_back({"a start that knows too much",
                 {.change =
                      [](StepRecord& r, double) {
                        if (r.step == 0) r.loss = 2;
                      }},
                 {"untrained_loss"}});
  out.push_back({"a gradient norm without bounds",
                 {.change = [](StepRecord& r, double part) { r.grad_norm *= std::pow(1e5, part); }},
                 {"growth"}});
  return out;
}

}  // namespace

TEST_CASE("every made run gets exactly the verdicts that its truth demands") {
  const TemporaryDirectory work;
  const std::vector<Made> runs = made_runs();
  CHECK(runs.size() >= 20);
  int i = 0;
  for (const Made& made : runs) {
    INFO(std::string(made.title), ", decay ", made.run.decay);
    const std::set<std::string> got = problems(made.run.write(work, std::to_string(i++)));
    std::string names;
    for (const std::string& id : got) names += id + " ";
    CHECK_MESSAGE(got == made.wanted, "got: ", names);
  }
}

TEST_CASE("a hundred healthy runs raise no alarm") {
  const TemporaryDirectory work;
  int alarms = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const MadeRun run = {
        .steps = 20 + 3 * static_cast<index_t>(seed % 40), .decay = 0.85 + 0.002 * (seed % 80), .seed = seed};
    for (const std::string& id : problems(run.write(work, std::to_string(seed)))) {
      ++alarms;
      MESSAGE("seed ", seed, ": ", id);
    }
  }
  std::printf("false alarms on 100 healthy runs: %d\n", alarms);
  CHECK(alarms == 0);
}

TEST_CASE("verdicts name the layer, the step, and the fitted factor") {
  const TemporaryDirectory work;
  const auto vanishing = verdicts_of(MadeRun{.decay = 0.6}.write(work, "a")).at("vanishing_time");
  CHECK(vanishing.finding == Finding::bad);
  CHECK(vanishing.layer == "rnn_l0");
  CHECK(vanishing.answer == "Vanishing: the gradient halves every 1.36 steps back in time.");
  CHECK(vanishing.evidence.find("factor 0.6 a step") != std::string::npos);
  const auto exploding = verdicts_of(MadeRun{.decay = 1.5}.write(work, "b")).at("exploding_time");
  CHECK(exploding.answer == "Exploding: the gradient doubles every 1.71 steps back in time.");

  const auto broken = [](StepRecord& r, double) {
    if (r.step < 300) return;
    r.loss = kNaN;
    r.layers[1].mean = r.layers[2].mean = kNaN;
  };
  const MadeRun nan = {.change = broken, .events = {{294, "nonfinite", "step 294: the loss is NaN (batch 294)"}}};
  const auto finite = verdicts_of(nan.write(work, "c")).at("finite");
  CHECK(finite.finding == Finding::bad);
  CHECK(finite.step == 294);
  CHECK(finite.layer == "layers.1");
  CHECK(diverged(judge(read_run(work.path() + "/c"))));
  CHECK(!diverged(judge(read_run(work.path() + "/a"))));

  MadeRun found = nan;
  found.events.insert(found.events.begin(),
                      {294, "anomaly", "the sentence", "layers.1.linear1", "linear", "anomaly/anomaly.json"});
  const auto anomaly = verdicts_of(found.write(work, "d")).at("finite");
  CHECK(anomaly.answer == "The first number that is not finite comes at step 294, in layer layers.1.linear1.");
  CHECK(anomaly.evidence == "the sentence");

  const auto still =
      verdicts_of(MadeRun{.change = [](StepRecord& r, double) { r.parameters[2].grad_norm = 0; }}.write(work, "e"))
          .at("still_layers");
  CHECK(still.layer == "layers.2.weight");
  const auto spike = verdicts_of(MadeRun{.change =
                                             [](StepRecord& r, double) {
                                               if (r.step == 700) r.grad_norm *= 8;
                                             }}
                                     .write(work, "f"))
                         .at("spikes");
  CHECK(spike.step == 700);
}

TEST_CASE("a frozen parameter is not told to learn") {
  const TemporaryDirectory work;
  const MadeRun run = {
      .change = [](StepRecord& r, double) { r.parameters[0].grad_norm = r.parameters[0].update_ratio = 0; }};
  const std::string directory = run.write(work, "run");
  CHECK(problems(directory) == std::set<std::string>{"still_layers"});
  std::string info = content_of(directory + "/run.json");
  info.replace(info.find("\"trainable\": true"), 17, "\"trainable\": false");
  work.write("run/run.json", info);
  CHECK(problems(directory).empty());
}

namespace {

/// The verdicts on a run whose loss at each step is loss(part), part from 0 to 1.
std::map<std::string, Verdict> verdicts_of_losses(const TemporaryDirectory& work,
                                                  const std::function<double(double)>& loss) {
  static int number = 0;
  const MadeRun run = {.change = [&](StepRecord& r, double part) { r.loss = loss(part); }};
  return verdicts_of(run.write(work, "losses" + std::to_string(++number)));
}

}  // namespace

TEST_CASE("a loss of one value does not fall and does not diverge, whatever the value") {
  const TemporaryDirectory work;
  for (const double value : {1.0, 0.0, -1.0, 1e-300, -1e-300, 1e300, 0.1}) {
    INFO("loss ", value);
    const auto verdicts = verdicts_of_losses(work, [&](double) { return value; });
    CHECK(verdicts.at("learning").finding == Finding::warning);
    CHECK(verdicts.at("learning").answer == "The loss does not fall.");
    CHECK(verdicts.at("diverged").finding == Finding::fine);
    CHECK(verdicts.at("spikes").finding == Finding::fine);
  }
}

TEST_CASE("a loss that falls and then stays is judged alike, at 0 too") {
  const TemporaryDirectory work;
  for (const double level : {1.0, 0.0, -1.0, 1e-9, -1e-9}) {
    INFO("level ", level);
    const auto falls_early = [&](double part) { return level + std::max(0.0, 0.4 - part); };
    CHECK(verdicts_of_losses(work, falls_early).at("learning").answer == "The loss stands still in the second half.");
    const auto falls = [&](double part) { return level + 1 - part; };
    CHECK(verdicts_of_losses(work, falls).at("learning").answer == "The loss falls.");
  }
}

TEST_CASE("verdicts on the loss do not depend on its unit") {
  const TemporaryDirectory work;
  const std::vector<std::function<double(double)>> losses = {
      [](double part) { return 2 - part; },
      [](double part) { return 1 - 2 * part; },
      [](double part) { return 0.004 * (1 - part) + 1; },
      [](double part) { return part < 0.5 ? 1 - part : 3 * part; },
      [](double part) { return std::sin(300 * part); },
      [](double part) { return part < 0.6 ? -1 - part : -1.6 + 20 * (part - 0.6); }};
  for (std::size_t i = 0; i < losses.size(); ++i)
    for (const double unit : {1e-100, 1e-20, 1e20}) {
      INFO("loss ", i, " in units of ", unit);
      const auto one = verdicts_of_losses(work, losses[i]);
      const auto other = verdicts_of_losses(work, [&](double part) { return unit * losses[i](part); });
      for (const char* id : {"learning", "diverged", "spikes"}) CHECK(one.at(id).answer == other.at(id).answer);
    }
}

TEST_CASE("a loss around 0 is not judged by a first or best value that is nearly 0") {
  const TemporaryDirectory work;
  const auto alternating = [](double part) { return std::lround(99 * part) % 2 ? 1.0 : -1.0; };
  for (const double drift : {1e-4, -1e-4}) {
    INFO("drift ", drift);
    const auto verdicts = verdicts_of_losses(work, [&](double part) { return alternating(part) + drift * part; });
    CHECK(verdicts.at("diverged").finding == Finding::fine);
    CHECK(verdicts.at("learning").answer == "The loss does not fall.");
  }
  const auto away = [](double part) { return part < 0.6 ? 1 - 3 * part : -0.8 + 50 * (part - 0.6); };
  CHECK(verdicts_of_losses(work, away).at("diverged").finding == Finding::bad);
  const auto zero_again = [](double part) { return part > 0.1 && part < 0.3 ? 1 : part < 0.89 ? 0 : 1e-3; };
  CHECK(verdicts_of_losses(work, zero_again).at("diverged").finding == Finding::fine);
}

TEST_CASE("a jump after equal losses is judged alike, whatever rounding makes of their mean") {
  for (const double usual : {1.0, 0.1, 1 / 3.0, 0.0, -0.7}) {
    SpikeDetector detector;
    for (int i = 0; i < 40; ++i) detector.add(usual, 1);
    CHECK(!detector.loss_z(usual + 1));
    CHECK(!detector.judge(40, usual + 100, 1));
    CHECK(!detector.judge(40, usual, 1));
  }
}

TEST_CASE("a gradient norm that starts at 0 has no growth, and one of 0 keeps its size") {
  const TemporaryDirectory work;
  const auto growth = [&](const char* name, const std::function<double(double)>& norm) {
    return verdicts_of(
               MadeRun{.change = [&](StepRecord& r, double part) { r.grad_norm = norm(part); }}.write(work, name))
        .at("growth");
  };
  for (const double value : {0.0, 1.0, 1e-30})
    CHECK(growth("constant", [&](double) { return value; }).finding == Finding::fine);
  const Verdict from_zero = growth("from zero", [](double part) { return part < 0.2 ? 0 : 1e-9; });
  CHECK(from_zero.finding == Finding::unmeasured);
  CHECK(from_zero.evidence.find("of the first tenth 0, of the last tenth 1e-09") != std::string::npos);
}

TEST_CASE("layers that get no update do not learn, also if none gets one") {
  const TemporaryDirectory work;
  const auto still = [&](const char* name, std::size_t first) {
    const MadeRun run = {.change = [&](StepRecord& r, double) {
      for (std::size_t i = first; i < r.parameters.size(); ++i)
        r.parameters[i].update_norm = r.parameters[i].update_ratio = 0;
    }};
    return verdicts_of(run.write(work, name)).at("still_layers");
  };
  CHECK(still("none", 3).finding == Finding::fine);
  CHECK(still("last", 2).answer == "layers.2.weight does not learn.");
  const Verdict all = still("all", 0);
  CHECK(all.finding == Finding::warning);
  CHECK(all.answer == "layers.0.weight does not learn, nor do 2 more.");
  CHECK(all.evidence == "its update ratio is 0 in the median step");
}

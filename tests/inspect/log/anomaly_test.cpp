// When a run goes wrong: the first op that made a NaN, bad batches, dead layers, the flight recorder, the policies.
#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include "child_process.hpp"
#include "stderr_capture.hpp"
#include "support.hpp"

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

std::unique_ptr<Args> run_arguments(const std::string& out, index_t steps, std::vector<std::string> more = {}) {
  auto args = std::make_unique<Args>("program", "About.");
  std::vector<std::string> all = {"program", "--out", out, "--steps", std::to_string(steps)};
  all.insert(all.end(), more.begin(), more.end());
  std::vector<const char*> argv;
  for (const std::string& arg : all) argv.push_back(arg.c_str());
  args->parse(static_cast<int>(argv.size()), argv.data());
  return args;
}

/// A network of three linear layers with relus on a small task.
struct Network {
  ParamStore store{5};
  Linear fc1{store.root() / "fc1", 4, 8}, fc2{store.root() / "fc2", 8, 8}, fc3{store.root() / "fc3", 8, 3};
  AdamW opt{decay_groups(store, 0.0)};

  Tensor logits(const Array& x) const { return fc3(relu(fc2(relu(fc1(Tensor(x)))))); }
  /// One step of a flat script. `change` may spoil the inputs.
  void step(RunLog& log, index_t i, const std::function<void(Array&)>& change = {}) {
    Array x = sample({16, 4}, static_cast<std::uint64_t>(100 + i % 7));
    IndexArray targets = empty_array<IndexArray>({16});
    for (std::size_t b = 0; b < 16; ++b) targets(b) = x(b, 0) > 0 ? (x(b, 1) > 0 ? 0 : 1) : 2;
    if (change) change(x);
    Tape tape;
    const Tensor loss = cross_entropy(logits(x), targets);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1.0);
    if (log.accepts(i, static_cast<double>(loss.item()), norm)) opt.step(1e-2);
    log.step(i, {.loss = static_cast<double>(loss.item()), .lr = 1e-2, .grad_norm = norm, .batch = 1000 + i}, opt);
    store.zero_grad();
  }
};

Verdict verdict_of(const std::string& directory, const std::string& id) {
  for (const Verdict& v : judge(read_run(directory)))
    if (v.id == id) return v;
  FAIL("there is no verdict " << id);
  return {};
}

std::vector<json> events_of(const std::string& directory, const std::string& kind) {
  std::vector<json> out;
  for (const std::string& line : lines_of(content_of(directory + "/events.jsonl")))
    if (json event = json::parse(line); event["kind"] == kind) out.push_back(event);
  return out;
}

void plant_nan(Parameter parameter) {
  Array value = parameter.value();
  value.data()[1] = std::numeric_limits<real>::quiet_NaN();
  parameter.set_value(value);
}

constexpr RunLogOptions kEveryFifth = {.interval = 5, .console = false};

}  // namespace

TEST_CASE("a NaN planted in a layer: --detect-anomaly names op, layer, step and shapes, and keeps the arrays") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 12, {"--detect-anomaly"});
  Network net;
  RunLog log(*args, net.store, kEveryFifth);
  for (index_t i = 0; i < 10; ++i) {
    if (i == 7) plant_nan(net.fc2.weight);
    net.step(log, i);
  }
  log.finish();
  const std::string run = log.directory();
  const std::vector<json> events = events_of(run, "anomaly");
  REQUIRE(events.size() == 1);
  CHECK(events[0]["step"] == 7);
  CHECK(events[0]["layer"] == "fc2");
  CHECK(events[0]["op"] == "linear");
  const std::string text = events[0]["text"];
  CHECK(text.find("step 7: the forward of linear in layer fc2 is the first to produce NaN or infinity: (16,8)") == 0);
  CHECK(text.find("with 16 NaN; inputs (16,8) from 0 to ") != std::string::npos);
  CHECK(text.find("(8,8) from ") != std::string::npos);
  CHECK(text.find("with 1 NaN, (8)") != std::string::npos);
  const json bundle = json::parse(content_of(run + "/anomaly/anomaly.json"));
  CHECK(bundle["backward"] == false);
  CHECK(bundle["step"] == 7);
  REQUIRE(bundle["arrays"].size() == 4);
  CHECK(bundle["arrays"][1]["file"] == "input_1.npy");
  const std::string npy = content_of(run + "/anomaly/input_1.npy");
  CHECK(npy.substr(1, 5) == "NUMPY");
  CHECK(npy.size() % 64 == (64 * sizeof(real)) % 64);
  CHECK(npy.substr(npy.size() - sizeof(real) * 64 + sizeof(real), sizeof(real)) ==
        std::string(reinterpret_cast<const char*>(net.fc2.weight.value().data() + 1), sizeof(real)));
  const Verdict v = verdict_of(run, "finite");
  CHECK(v.layer == "fc2");
  CHECK(v.step == 7);
  CHECK(v.finding == Finding::bad);
}

TEST_CASE("an infinite gradient: the op is named in the backward") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 3, {"--detect-anomaly"});
  ParamStore store;
  const Parameter w = store.root().parameter("w", {2}, init::constant(0));
  RunLog log(*args, store, kEveryFifth);
  SGD opt(all_parameters(store));
  Tape tape;
  const Tensor root = sqrt(Tensor(w));  // 0, slope infinite
  tape.backward(sum(root));
  opt.step(0.1);
  log.step(0, {.loss = 0}, opt);
  log.finish();
  const std::vector<json> events = events_of(log.directory(), "anomaly");
  REQUIRE(events.size() == 1);
  CHECK(events[0]["op"] == "sqrt");
  const std::string text = events[0]["text"];
  CHECK(text.find("the backward of sqrt is the first") != std::string::npos);
  CHECK(text.find("(2) with 2 infinite; upstream gradient (2) from 1 to 1; inputs (2) from 0 to 0") !=
        std::string::npos);
  CHECK(std::filesystem::exists(log.directory() + "/anomaly/upstream.npy"));
}

TEST_CASE("without --detect-anomaly the first layer whose output is NaN is named at the logged step") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 12);
  Network net;
  RunLog log(*args, net.store, kEveryFifth);
  for (index_t i = 0; i < 12; ++i) {
    if (i == 7) plant_nan(net.fc2.weight);
    net.step(log, i);
  }
  log.finish();
  const Verdict v = verdict_of(log.directory(), "finite");
  CHECK(v.step == 7);
  CHECK(v.layer == "fc2");
  CHECK(v.answer == "The first number that is not finite comes at step 7, seen in fc2.");
}

TEST_CASE("a bad batch between two logged steps is named with its number, and the steps before it are kept") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 60);
  Network net;
  RunLog log(*args, net.store, {.interval = 25, .console = false});
  for (index_t i = 0; i < 60; ++i)
    net.step(log, i, [&](Array& x) {
      if (i == 37)
        for (real& v : x) v *= 300;
    });
  log.finish();
  const std::vector<json> events = events_of(log.directory(), "spike");
  REQUIRE(!events.empty());
  CHECK(events[0]["step"] == 37);
  CHECK(std::string(events[0]["text"]).find("(batch 1037)") != std::string::npos);
  const Verdict v = verdict_of(log.directory(), "spikes");
  CHECK(v.finding == Finding::warning);
  CHECK(v.step == 37);
  CHECK(v.evidence.find("(batch 1037)") != std::string::npos);
  const json flight = json::parse(content_of(log.directory() + "/" + std::string(events[0]["file"])));
  CHECK(flight["steps"].size() == 38);
  CHECK(flight["steps"].back()["step"] == 37);
  CHECK(flight["steps"].back()["batch"] == 1037);
  CHECK(flight["steps"].back()["grad_norms_preclip"].size() == 6);
  double squares = 0;
  for (const json& norm : flight["steps"].back()["grad_norms_preclip"]) squares += std::pow(norm.get<double>(), 2);
  check_near(std::sqrt(squares), flight["steps"].back()["grad_norm_preclip"], {1e-6, 0});
}

TEST_CASE("a dead layer is named: its units and the weights that do not learn") {
  const TemporaryDirectory work;
  const auto args = run_arguments(work.path() + "/run", 20);
  Network net;
  Parameter(net.fc2.bias).set_value(row({-50, -50, -50, -50, -50, -50, -50, -50}));
  RunLog log(*args, net.store, kEveryFifth);
  for (index_t i = 0; i < 20; ++i) net.step(log, i);
  log.finish();
  const Verdict dead = verdict_of(log.directory(), "dead_units");
  CHECK(dead.layer == "fc2.relu");
  CHECK(dead.answer == "100 % of the units of fc2.relu are dead.");
  const Verdict still = verdict_of(log.directory(), "still_layers");
  CHECK(still.finding == Finding::warning);
  CHECK(still.layer == "fc1.weight");  // behind the dead units no gradient comes through
}

TEST_CASE("policies: warn goes on, skip leaves the weights alone, stop ends with an error") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto spoil_at = [](index_t step, index_t bad, double factor) {
    return [=](Array& x) {
      if (step == bad)
        for (real& v : x) v *= static_cast<real>(factor);
    };
  };
  const auto weights_after = [&](const std::string& policy, index_t bad, double factor) {
    const auto args = run_arguments(work.path() + "/" + policy + std::to_string(bad), 41, {"--on-trouble", policy});
    Network net;
    RunLog log(*args, net.store, kEveryFifth);
    for (index_t i = 0; i < 40; ++i) net.step(log, i, spoil_at(i, bad, factor));
    Array before = net.fc1.weight.value();
    net.step(log, 40, spoil_at(40, 40, factor));
    return std::pair(before, net.fc1.weight.value());
  };
  const auto [before, skipped] = weights_after("skip", 40, 300);
  check_equal(skipped, before);
  const auto [same, moved] = weights_after("warn", 40, 300);
  CHECK(difference(moved, same, {0, 0}) != "");
  check_equal(same, before);
  check_throws<DivergedError>([&] { weights_after("stop", 11, INFINITY); },
                              "the run stops at step 11, as --on-trouble stop asks");
  const std::vector<json> stopped = events_of(work.path() + "/stop11", "nonfinite");
  REQUIRE(stopped.size() == 1);
  CHECK(stopped[0]["file"] == "flight/step_11.json");
  const std::vector<json> skips = events_of(work.path() + "/skip40", "spike");
  REQUIRE(skips.size() == 1);
  CHECK(std::string(skips[0]["text"]).find("; the step is skipped") != std::string::npos);
}

TEST_CASE("a run that is broken for good neither fills the disk nor stops") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 400);
  Network net;
  RunLog log(*args, net.store, {.interval = 100, .console = false});
  plant_nan(net.fc1.weight);
  for (index_t i = 0; i < 300; ++i) net.step(log, i);
  log.finish();
  CHECK(events_of(log.directory(), "nonfinite").size() == 100);
  CHECK(std::distance(std::filesystem::directory_iterator(log.directory() + "/flight"), {}) == 10);
}

TEST_CASE("SIGUSR1 makes the recorder write, and a run that ends without finish() writes too") {
  const TemporaryDirectory work;
  const auto args = run_arguments(work.path() + "/run", 40);
  {
    Network net;
    RunLog log(*args, net.store, kEveryFifth);
    for (index_t i = 0; i < 20; ++i) {
      if (i == 6) std::raise(SIGUSR1);
      net.step(log, i);
    }
    CHECK(std::filesystem::exists(log.directory() + "/flight/step_6.json"));
    REQUIRE(events_of(log.directory(), "dump").size() == 1);
    CHECK(events_of(log.directory(), "dump")[0]["file"] == "flight/step_6.json");
  }
  const json last = json::parse(content_of(work.path() + "/run/flight/step_19.json"));
  CHECK(last["reason"] == "the run ended before it was finished");
  CHECK(last["steps"].size() == 20);
}

TEST_CASE("a directory that goes away during the run costs one warning and no step") {
  const TemporaryDirectory work;
  const std::string errors = work.path() + "/stderr";
  {
    const StderrCapture capture(errors);
    const auto args = run_arguments(work.path() + "/run", 40);
    Network net;
    RunLog log(*args, net.store, kEveryFifth);
    for (index_t i = 0; i < 30; ++i) {
      if (i == 20) std::filesystem::remove_all(log.directory());
      if (i == 25) plant_nan(net.fc1.weight);
      net.step(log, i);
    }
    log.finish();
  }
  int about_files = 0;
  for (const std::string& line : lines_of(content_of(errors)))
    about_files += line.find("continues without its flight recorder") != std::string::npos;
  CHECK(about_files == 1);
}

TEST_CASE("only logged steps are looked at, and a validation step between them lacks what nobody could know") {
  const TemporaryDirectory work;
  const auto args = run_arguments(work.path() + "/run", 100);
  Network net;
  RunLog log(*args, net.store, {.interval = 10, .console = false});
  std::vector<index_t> seen;
  for (index_t i = 0; i < 25; ++i) {
    const index_t calls = Probe::calls();
    net.step(log, i);
    if (Probe::calls() > calls) seen.push_back(i);
  }
  CHECK(seen == std::vector<index_t>{0, 10, 20});
  net.opt.step(0);
  log.step(25, {.loss = 1, .validation_loss = 2}, net.opt);
  log.finish();
  const RunData run = read_run(log.directory());
  REQUIRE(run.steps.size() == 4);
  CHECK(run.steps[2].parameters[0].grad_max);
  CHECK(run.steps[2].layers.size() == 3);
  CHECK(!run.steps[3].parameters[0].grad_max);
  CHECK(run.steps[3].layers.empty());
  CHECK(run.steps[1].interval.steps == 10);
  CHECK(run.steps[3].interval.steps == 5);
}

TEST_CASE("clip factor, shares and z-scores are those of the raw numbers of every step") {
  const TemporaryDirectory work;
  const auto args = run_arguments(work.path() + "/run", 100);
  Network net;
  RunLog log(*args, net.store, {.interval = 20, .console = false});
  std::vector<double> losses, norms, factors;
  for (index_t i = 0; i <= 40; ++i) {
    Tape tape;
    const Tensor loss =
        cross_entropy(net.logits(sample({8, 4}, static_cast<std::uint64_t>(i))), full_array<IndexArray>({8}, 1));
    tape.backward(loss);
    double raw = 0, clipped = 0;
    for (const Parameter& p : net.store.parameters()) raw += std::pow(p.grad_norm(), 2);
    const double norm = clip_grad_norm(net.store, 0.4);
    for (const Parameter& p : net.store.parameters())
      for (real g : p.grad()) clipped += std::pow(static_cast<double>(g), 2);
    losses.push_back(static_cast<double>(loss.item()));
    norms.push_back(std::sqrt(raw));
    factors.push_back(std::sqrt(clipped / raw));
    net.opt.step(1e-2);
    log.step(i, {.loss = losses.back(), .lr = 1e-2}, net.opt);  // the total is the one that clipping has noted
    check_near(norm, norms.back(), {1e-6, 0});
    net.store.zero_grad();
  }
  const RunData run = read_run(log.directory());
  REQUIRE(run.steps.size() == 3);
  const auto z = [](const std::vector<double>& before, double x) {
    double mean = 0, squares = 0;
    for (double b : before) mean += b / static_cast<double>(before.size());
    for (double b : before) squares += (b - mean) * (b - mean);
    return (x - mean) / std::sqrt(squares / static_cast<double>(before.size() - 1));
  };
  const StepRecord& last = run.steps[2];
  check_near(last.grad_norm, norms[40], {1e-6, 0});
  check_near(last.clip_factor, factors[40], {1e-5, 0});
  check_near(*last.loss_z, z({losses.begin(), losses.begin() + 40}, losses[40]), {1e-6, 1e-9});
  std::vector<double> logs;
  for (double norm : norms) logs.push_back(std::log(norm));
  check_near(*last.grad_norm_z, z({logs.begin(), logs.begin() + 40}, logs[40]), {1e-5, 1e-6});
  CHECK(!run.steps[0].loss_z);
  CHECK(last.interval.steps == 20);
  CHECK(last.interval.clipped == std::count_if(norms.begin() + 21, norms.end(), [](double n) { return n > 0.4; }));
  CHECK(last.interval.clipped > 0);
  CHECK(last.interval.loss_min == *std::min_element(losses.begin() + 21, losses.end()));
  check_near(last.interval.grad_norm_max, *std::max_element(norms.begin() + 21, norms.end()), {1e-6, 0});
}

TEST_CASE("the extremes of an interval that begins with NaN are those of its finite steps") {
  const TemporaryDirectory work;
  const StderrCapture silence;
  const auto args = run_arguments(work.path() + "/run", 11);
  Network net;
  RunLog log(*args, net.store, kEveryFifth);
  for (index_t i = 0; i < 11; ++i)  // the interval of steps 6 to 10 begins with a spoilt batch
    net.step(log, i, [&](Array& x) {
      if (i == 6) x.data()[0] = std::numeric_limits<real>::quiet_NaN();
    });
  log.finish();
  const IntervalStats interval = read_run(log.directory()).steps.back().interval;
  CHECK(interval.steps == 5);
  CHECK(interval.skipped == 1);
  CHECK(interval.loss_min > 0);
  CHECK(interval.loss_min <= interval.loss_max);
  CHECK(interval.grad_norm_min > 0);
  CHECK(interval.grad_norm_min <= interval.grad_norm_max);
}

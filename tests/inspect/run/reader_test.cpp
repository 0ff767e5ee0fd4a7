// Reading whole, growing and damaged run folders.
#include <xtape/core/error.hpp>
#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/run/run_json.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <bit>
#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

bool warns(const RunData& run, const std::string& part) {
  for (const std::string& warning : run.warnings)
    if (warning.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("what is written is what is read") {
  const TemporaryDirectory work;
  MadeRun made = {.steps = 4, .events = {{7, "spike", "a text", "layer", "op", "flight/step_7.json", 2.5}}};
  made.change = [](StepRecord& r, double) {
    r.validation_loss = INFINITY;
    r.loss_z = -1.25;
    r.grad_norm_z = 3;
    r.clip_factor = 0.25;
    r.parameters[0].grad_histogram = {-7, {1, 0, 3}};
    r.attention = {{"attn", {1.5, NAN}, {0.5, 0.25}, {3, -INFINITY}}};
    r.times[0].by_time.push_back({"cell", {1, 2}});
    r.times[0].by_lag.push_back({"cell", {3, 4}});
  };
  const RunData run = read_run(made.write(work, "run"));
  CHECK(run.warnings.empty());
  CHECK(run.finished());
  CHECK(run.program == "made");
  CHECK(run.planned_steps == 40);
  CHECK(run.layout.size() == 3);
  CHECK(run.layout[1].shape == std::vector<index_t>{10, 10});
  const std::vector<StepRecord> wanted = made.records();
  REQUIRE(run.steps.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    StepRecord want = wanted[i];
    CHECK((metrics_line(*read_metrics_line(metrics_line(want))) == metrics_line(want)));
    want.parameters[0].grad_histogram = {};  // which a reader of runs does not keep
    CHECK((metrics_line(run.steps[i]) == metrics_line(want)));
  }
  REQUIRE(run.events.size() == 2);
  CHECK(event_line(run.events[0]) == event_line(made.events[0]));
}

TEST_CASE("numbers that may be missing tell every number from a missing one") {
  PackedOptional<double> x;
  CHECK(!x);
  CHECK(x.value_or(3) == 3);
  for (const double value : {0.0, -1.5, kInf}) {
    x = value;
    CHECK(*x == value);
    CHECK(std::optional<double>(x) == value);
  }
  x = std::bit_cast<double>(std::uint64_t{0x7ff8'7461'7065'0001});  // the bits of a missing one
  REQUIRE(x);
  CHECK(std::isnan(*x));
  x = std::optional<double>();
  CHECK(!x);
  PackedOptional<index_t> n;
  CHECK(!n);
  CHECK((n = -7) == -7);
}

TEST_CASE("names are shared by the records of a run, and equal to their texts") {
  const TemporaryDirectory work;
  const RunData run = read_run(MadeRun{.steps = 3}.write(work, "run"));
  const Name &first = run.steps[0].parameters[1].name, &later = run.steps[2].parameters[1].name;
  CHECK(first.same(later));
  CHECK(first == "layers.1.weight");
  CHECK(first == Name("layers.1.weight"));
  CHECK(first + "x" == "layers.1.weightx");
  CHECK(Name().str() == "");
}

TEST_CASE("a path that is not a run is refused") {
  const TemporaryDirectory work;
  check_throws<FileError>([&] { read_run(work.path() + "/none"); }, "there is no such directory");
  check_throws<FileError>([&] { read_run(work.write("file", "x")); }, "there is no such directory");
  std::filesystem::create_directory(work.path() + "/empty");
  check_throws<FileError>([&] { read_run(work.path() + "/empty"); }, "this is not a run");
}

TEST_CASE("a run killed in the middle of a line is read up to there, and the rest when it comes") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 5, .finished = false}.write(work, "run");
  const std::string text = content_of(directory + "/metrics.jsonl");
  const std::size_t cut = text.rfind('\n', text.size() - 2) + 100;
  work.write("run/metrics.jsonl", text.substr(0, cut));
  RunReader reader(directory);
  CHECK(reader.run().steps.size() == 4);
  CHECK(warns(reader.run(), "metrics.jsonl ends in the middle of a line"));
  CHECK(!reader.run().finished());
  CHECK(!reader.update());
  work.write("run/metrics.jsonl", text);
  CHECK(reader.update());
  CHECK(reader.run().steps.size() == 5);
  CHECK(reader.run().warnings.empty());
  CHECK(!reader.update());
}

TEST_CASE("whatever is missing or garbled, the rest is read and a warning says what is missing") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 12}.write(work, "run");
  const std::string info = content_of(directory + "/run.json"), metrics = content_of(directory + "/metrics.jsonl");

  work.write("run/run.json", info.substr(0, info.size() / 2));
  CHECK(warns(read_run(directory), "run.json cannot be read"));
  CHECK(read_run(directory).steps.size() == 12);
  work.write("run/run.json", "{\"options\": 7, \"seed\": \"x\"}");
  CHECK(warns(read_run(directory), "run.json cannot be read"));
  for (const char* wrong : {"1e30", "0.5", "-3000000000", "[3]"}) {
    work.write("run/run.json", std::string("{\"threads\": ") + wrong + "}");
    CHECK(warns(read_run(directory), "run.json cannot be read"));
  }
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');  // no stack is deep enough to write it
  work.write("run/run.json", "{\"options\": {\"text\": " + deep + "}}");
  CHECK(warns(read_run(directory), "run.json cannot be read"));
  check_throws<FileError>([&] { resumed_run_json("{\"options\": {}, \"deep\": " + deep + "}", {}); }, "is damaged");
  check_throws<FileError>([&] { resumed_run_json("{\"options\": {}, \"resumed\": 7}", {}); }, "is damaged");
  std::filesystem::remove(directory + "/run.json");
  CHECK(warns(read_run(directory), "run.json is missing"));

  std::string garbled = metrics;
  garbled[10] = '\0';
  garbled.insert(garbled.find('\n') + 1,
                 "not json\n{\"format_version\": 99, \"step\": 4}\n{\"format_version\":1,\"step\":\"x\"}\n"
                 "{\"format_version\":1,\"step\":4e40}\n{\"format_version\":1e12,\"step\":4}\n[]\n");
  work.write("run/metrics.jsonl", garbled);
  const RunData run = read_run(directory);
  CHECK(run.steps.size() == 11);
  CHECK(warns(run, "metrics.jsonl: cannot read line 1, 2, 3 and 4 more"));
  CHECK(judge(run).size() > 10);

  std::filesystem::remove(directory + "/events.jsonl");
  CHECK(warns(read_run(directory), "events.jsonl is missing"));
}

TEST_CASE("without metrics.jsonl the norms come from grad_norms.csv") {
  const TemporaryDirectory work;
  const MadeRun made = {.steps = 30, .decay = 0.6};
  const std::string directory = made.write(work, "run");
  std::filesystem::remove(directory + "/metrics.jsonl");
  const std::string rows = content_of(directory + "/grad_norms.csv");
  work.write("run/grad_norms.csv",
             rows + "40,total_preclip,\"a, \"\"b\"\"\",,1\nrubbish\n50,total_preclip,all,x,1\n999,total");
  const RunData run = read_run(directory);
  CHECK(warns(run, "gradient norms are taken from grad_norms.csv"));
  CHECK(run.only_norms);
  const std::vector<StepRecord> wanted = made.records();
  REQUIRE(run.steps.size() <= wanted.size());
  for (std::size_t i = 0; i < 4; ++i) {
    check_near(run.steps[i].grad_norm, wanted[i].grad_norm, {1e-8, 0});
    check_near(run.steps[i].times[0].by_lag[0].norms[5], wanted[i].times[0].by_lag[0].norms[5], {1e-8, 0});
    check_near(run.steps[i].parameters[2].update_ratio, wanted[i].parameters[2].update_ratio, {1e-8, 0});
  }
  bool vanishing = false;
  for (const Verdict& v : judge(run)) vanishing = vanishing || (v.id == "vanishing_time" && v.finding == Finding::bad);
  CHECK(vanishing);
  CHECK(!diverged(judge(run)));
}

TEST_CASE("where the log goes back to an earlier step, the later lines count") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 6}.write(work, "run");
  MadeRun again = {.steps = 4};
  again.change = [](StepRecord& r, double) { r.loss = 7, r.step += 20; };
  std::string text = content_of(directory + "/metrics.jsonl");
  for (const StepRecord& r : again.records()) text += metrics_line(r);
  RunReader reader(directory);
  work.write("run/metrics.jsonl", text);
  CHECK(reader.update());
  std::vector<index_t> steps;
  for (const StepRecord& r : reader.run().steps) steps.push_back(r.step);
  CHECK(steps == std::vector<index_t>{0, 10, 20, 30, 40, 50});
  CHECK(reader.run().steps[2].loss == 7);
  // Cut off and written anew: read from the start.
  work.write("run/metrics.jsonl", text.substr(0, text.find('\n') + 1));
  CHECK(reader.update());
  CHECK(reader.run().steps.size() == 1);
}

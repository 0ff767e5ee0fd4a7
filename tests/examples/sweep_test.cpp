#include "studies/common/sweep.hpp"

#include <xtape/core/error.hpp>
#include <xtape/inspect/log/new_run_folder.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <limits>
#include <thread>

using namespace xtape;
using namespace xtape::examples;
using namespace xtape::test;
namespace fs = std::filesystem;

namespace {

SweepOptions in(const TemporaryDirectory& work, int processes = 1) {
  return {.directory = work.path() + "/sweep", .program = "test", .processes = processes};
}

/// Notes in a file that the run was made, makes its directory, and returns the length of its name.
SweepBody noting(const std::string& file) {
  return [file](const SweepRun& run, const std::string& directory) {
    std::ofstream(file, std::ios::app) << run.name << "\n";
    if (fs::exists(directory)) throw FileError("test", "the directory is there already");
    fs::create_directories(directory);
    return Results{{"length", {static_cast<double>(run.name.size())}}};
  };
}

}  // namespace

TEST_CASE("sweep: every run has its results, in order, and its output in a file") {
  const TemporaryDirectory work;
  const SweepBody body = [](const SweepRun& run, const std::string&) {
    std::cout << "output of " << run.name << std::endl;
    return Results{{"loss", {1, kNaN, kInf, -kInf, 0.1}}, {"of " + run.arguments.front(), {}}};
  };
  const auto outcomes = sweep({{"b", {"--x=1"}}, {"a", {"--x=2"}}}, body, in(work));
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].directory == work.path() + "/sweep/b");
  CHECK(outcomes[1].results.contains("of --x=2"));
  const std::vector<double>& loss = outcomes[0].results.at("loss");
  REQUIRE(loss.size() == 5);
  CHECK(std::isnan(loss[1]));
  CHECK(loss[2] == kInf);
  CHECK(loss[3] == -kInf);
  CHECK(loss[4] == 0.1);
  CHECK(content_of(work.path() + "/sweep/logs/a.txt") == "output of a\n");
}

TEST_CASE("sweep: what is finished is kept, what was interrupted is made anew") {
  const TemporaryDirectory work;
  const std::string made = work.path() + "/made";
  const std::vector<SweepRun> runs = {{"one", {}}, {"second", {}}, {"third", {}}};
  sweep({runs[0]}, noting(made), in(work));
  fs::create_directories(work.path() + "/sweep/second/checkpoints");  // killed before it had results
  const auto outcomes = sweep(runs, noting(made), in(work));
  CHECK(content_of(made) == "one\nsecond\nthird\n");
  CHECK(outcomes[0].kept);
  CHECK(!outcomes[1].kept);
  CHECK(!fs::exists(work.path() + "/sweep/second/checkpoints"));
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(outcomes[i].results.at("length").front() == static_cast<double>(runs[i].name.size()));
  CHECK(sweep(runs, noting(made), in(work))[2].kept);
  CHECK(content_of(made) == "one\nsecond\nthird\n");
}

TEST_CASE("sweep: a run that throws or dies leaves the others alone, and is tried again") {
  const TemporaryDirectory work;
  bool broken = true;
  const SweepBody body = [&](const SweepRun& run, const std::string&) -> Results {
    if (broken && run.name == "throws") throw ValueError("test", "this one cannot");
    if (broken && run.name == "dies") std::raise(SIGKILL);
    return {{"x", {1}}};
  };
  const std::vector<SweepRun> runs = {{"throws", {}}, {"good", {}}, {"dies", {}}, {"fine", {}}};
  for (int processes : {1, 3}) {
    const TemporaryDirectory here;
    const auto outcomes = sweep(runs, body, in(here, processes));
    CHECK(outcomes[0].trouble == "[test] this one cannot");
    CHECK(outcomes[2].trouble == "ended by signal 9");
    CHECK(outcomes[0].results.empty());
    for (std::size_t i : {1, 3}) {
      CHECK(outcomes[i].trouble.empty());
      CHECK(outcomes[i].results.at("x").front() == 1);
    }
  }
  sweep(runs, body, in(work));
  broken = false;
  const auto again = sweep(runs, body, in(work));
  for (const SweepOutcome& outcome : again) CHECK(outcome.trouble.empty());
  CHECK(again[1].kept);
  CHECK(!again[0].kept);
}

TEST_CASE("sweep: runs go beside each other, at most as many as wanted") {
  const TemporaryDirectory work;
  // Each waits for the other, so that one after the other neither would end well.
  const SweepBody meeting = [&](const SweepRun& run, const std::string&) {
    work.write("met-" + run.name, "");
    const std::string other = work.path() + "/met-" + (run.name == "a" ? "b" : "a");
    for (int i = 0; i < 2000 && !fs::exists(other); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return Results{{"met", {fs::exists(other) ? 1.0 : 0.0}}};
  };
  for (const SweepOutcome& outcome : sweep({{"a", {}}, {"b", {}}}, meeting, in(work, 2)))
    CHECK(outcome.results.at("met").front() == 1);
  const TemporaryDirectory second;
  const SweepBody alone = [&](const SweepRun& run, const std::string&) {
    const std::string mine = second.write("here-" + run.name, "");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    double others = -1;
    for (const auto& entry : fs::directory_iterator(second.path()))
      others += entry.path().filename().string().starts_with("here-");
    fs::remove(mine);
    return Results{{"others", {others}}};
  };
  for (const SweepOutcome& outcome : sweep({{"a", {}}, {"b", {}}, {"c", {}}}, alone, in(second, 1)))
    CHECK(outcome.results.at("others").front() == 0);
}

TEST_CASE("sweep: one seed gives the same results in another process") {
  const SweepBody body = [](const SweepRun& run, const std::string&) {
    set_threads(1);
    ParamStore store(std::stoull(run.arguments.front()));
    const Linear layer(store.root() / "layer", 8, 8);
    SGD opt(all_parameters(store));
    Results out;
    for (index_t step = 0; step < 20; ++step) {
      Tape tape;
      const Tensor y = layer(Tensor::ones({4, 8}));
      const Tensor loss = mse_loss(y, Tensor::zeros({4, 8}));
      tape.backward(loss);
      opt.step(0.1);
      store.zero_grad();
      out["loss"].push_back(static_cast<double>(loss.item()));
    }
    return out;
  };
  const std::vector<SweepRun> runs = {{"a", {"7"}}, {"b", {"8"}}, {"c", {"7"}}};
  const TemporaryDirectory work;
  const auto outcomes = sweep(runs, body, in(work, 2));
  CHECK(outcomes[0].results == outcomes[2].results);
  CHECK(outcomes[0].results != outcomes[1].results);
  CHECK(outcomes[0].results.at("loss").front() > outcomes[0].results.at("loss").back());
}

TEST_CASE("sweep: what it refuses") {
  const TemporaryDirectory work;
  const std::string made = work.path() + "/made";
  const auto refuses = [&](const std::vector<SweepRun>& runs, const SweepOptions& options, const std::string& why) {
    check_throws<Error>([&] { sweep(runs, noting(made), options); }, why);
  };
  sweep({{"a", {"--x=1"}}}, noting(made), in(work));
  refuses({{"a", {"--x=2"}}}, in(work), "sweep/a: this run was made with other options");
  refuses({{"a", {"--x=1"}}}, {.directory = in(work).directory, .program = "other"},
          "it holds the runs of another program");
  refuses({{"b", {}}}, {.directory = work.path(), .program = "test"}, "the directory is not empty");
  refuses({{"b", {}}, {"b", {}}}, in(work), "two runs are named b");
  for (const char* name : {"", "x/y", "..", "logs", "a b"}) refuses({{name, {}}}, in(work), "is no name for a run");
  refuses({{"b", {}}}, in(work, 0), "at least one process");
  {
    const FolderLock lock(in(work).directory);
    refuses({{"b", {}}}, in(work), "in use by another run");
  }
  work.write("sweep/b/results.json", "{\"format_version\": 1}");
  refuses({{"b", {}}}, in(work), "sweep/b/results.json is damaged");
  work.write("sweep/b/results.json", "{\"format_version\": 2}");
  refuses({{"b", {}}}, in(work), "is of another version");
  CHECK(content_of(made) == "a\n");  // nothing was run
}

TEST_CASE("spread: median and extremes of what is finite") {
  const Spread odd = spread_of({3, 1, 2});
  CHECK(odd.median == 2);
  CHECK(odd.low == 1);
  CHECK(odd.high == 3);
  const Spread holes = spread_of({kNaN, 4, kInf, 2});
  CHECK(holes.median == 3);
  CHECK(holes.count == 2);
  CHECK(holes.missing == 2);
  CHECK(spread_of({}).count == 0);
  CHECK(spread_of({kNaN}).missing == 1);
}

// What a run log writes when a run ends before it is finished.
#include <xtape/inspect/run/reader.hpp>

#include "core/forked.hpp"
#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <csignal>
#include <cstdio>
#include <iostream>

using namespace xtape;
using namespace xtape::test;

namespace {

struct StillMover {
  double update_norm(const Parameter&) const { return 0; }
};

/// Logs so many steps of 9, then calls `end`.
void log_steps(const std::string& directory, index_t steps, const std::function<void(RunLog&)>& end) {
  ParamStore store(1);
  Parameter w = store.root().parameter("w", {2}, init::constant(1));
  RunLog log({.program = "program", .steps = 9, .directory = directory}, store, {.interval = 1, .console = false});
  for (index_t step = 0; step < steps; ++step) {
    w.set_grad(full_array({2}, 1));
    log.step(step, {.loss = 1}, StillMover());
  }
  end(log);
}

}  // namespace

TEST_CASE("a run that ends before it is finished writes one event that says so") {
  const TemporaryDirectory work;
  const auto status = [&](const char* name) { return read_run(work.path() + "/" + name).status; };
  log_steps(work.path() + "/left", 3, [](RunLog&) {});
  CHECK(status("left").state == RunState::stopped);
  CHECK(status("left").text == "stopped before it was finished, after 3 of 9 steps");
  log_steps(work.path() + "/told", 3, [](RunLog& log) {
    log.stop("stopped after 3 of 9 steps");
    log.stop("again");
  });
  CHECK(status("told").text == "stopped after 3 of 9 steps");
  CHECK(lines_of(content_of(work.path() + "/told/events.jsonl")).size() == 1);
  log_steps(work.path() + "/finished", 3, [](RunLog& log) {
    log.finish();
    log.stop("too late");
  });
  CHECK(status("finished").state == RunState::finished);
  log_steps(work.path() + "/none", 0, [](RunLog&) {});
  CHECK(status("none").text == "stopped before it was finished, after 0 of 9 steps");
}

TEST_CASE("a signal that ends a run is named in its last event, and SIGKILL leaves none") {
  const TemporaryDirectory work;
  std::cout.flush();
  std::fflush(stdout);
  for (const auto& [signal, name, text] : std::vector<std::tuple<int, std::string, std::string>>{
           {SIGTERM, "term", "stopped by SIGTERM after 4 of 9 steps"}, {SIGKILL, "kill", "killed: process "}}) {
    const std::string directory = work.path() + "/" + name;
    in_child([&, number = signal] {
      std::signal(SIGTERM, SIG_DFL);  // doctest has a handler of its own
      log_steps(directory, 3, [&](RunLog& log) {
        std::raise(number);
        log.step(3, {.loss = 1}, StillMover());
      });
      return true;
    });
    const RunStatus status = read_run(directory).status;
    CHECK_MESSAGE(status.text.starts_with(text), status.text);
    CHECK(status.state == (signal == SIGTERM ? RunState::stopped : RunState::killed));
  }
}

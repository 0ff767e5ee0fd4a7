// Steps done, steps asked for, and --stop-after, in every relation.
#include "child_process.hpp"
#include "support.hpp"

#include <csignal>
#include <filesystem>

using namespace xtape;
using namespace xtape::test;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Args> arguments(const std::string& directory, index_t steps, bool resume, index_t stop_after) {
  auto args = std::make_unique<Args>("program", "About.");
  args->resumable();
  const std::string asked = std::to_string(steps), stop = std::to_string(stop_after);
  std::vector<const char*> argv = {"program", "--steps", asked.c_str(), "--stop-after", stop.c_str()};
  if (resume) argv.insert(argv.end(), {"--resume", directory.c_str()});
  args->parse(static_cast<int>(argv.size()), argv.data());
  return args;
}

/// A part of a run in `directory`.
struct Part {
  std::unique_ptr<Args> args;
  ParamStore store{5};
  Linear layer;
  SGD opt;
  Checkpoints checkpoints;
  index_t trained = 0;
  bool stopped = false;  ///< it threw StopRequested

  Part(const std::string& directory, index_t steps, bool resume, index_t stop_after, index_t interval,
       index_t width = 1)
      : args(arguments(directory, steps, resume, stop_after)),
        layer(store.root() / "layer", 2, width),
        opt(all_parameters(store)),
        checkpoints(*args, store, opt, directory, {.interval = interval, .keep = 100, .console = false}) {}

  void step(index_t step) {
    {
      Tape tape;
      tape.backward(sum(layer(Tensor::ones({1, 2}))));
    }
    opt.step(0.1);
    store.zero_grad();
    ++trained;
    checkpoints.step(step);
  }

  Part& go() {
    try {
      for (index_t s = checkpoints.resume(); s < args->steps(); ++s) step(s);
    } catch (const StopRequested&) {
      stopped = true;
    }
    return *this;
  }
};

/// An empty folder of a run.
std::string run_folder_in(const TemporaryDirectory& work, int number) {
  const std::string name = std::to_string(number);
  work.write(name + "/run.json", R"({"program": "program", "options": {}})");
  return work.path() + "/" + name;
}

/// The steps of the checkpoints in the folder of a run, in order.
std::vector<index_t> saved_steps(const std::string& directory) {
  std::vector<index_t> out;
  if (!fs::exists(directory + "/checkpoints")) return out;
  for (const auto& entry : fs::directory_iterator(directory + "/checkpoints"))
    out.push_back(std::stol(entry.path().filename().string().substr(std::string("step_").size())));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("no step is trained beyond a limit, however many steps are done, asked for, or to stop after") {
  const TemporaryDirectory work;
  int number = 0;
  for (const index_t interval : {1, 4, 100})
    for (const index_t done : {0, 3, 8})
      for (const index_t asked : {2, 3, 8})
        for (const index_t stop : {0, 1, 3, 5, 8, 9}) {
          INFO("interval ", interval, ", done ", done, ", asked ", asked, ", stop after ", stop);
          const std::string directory = run_folder_in(work, ++number);
          if (done > 0) REQUIRE(Part(directory, 8, false, done, interval).go().trained == done);
          const std::vector<index_t> before = saved_steps(directory);
          Part part(directory, asked, true, stop, interval);
          part.go();
          const index_t limit = stop > 0 ? std::min(stop, asked) : asked, end = std::max(done, limit);
          CHECK(part.trained == end - done);
          CHECK(part.stopped == (end < asked));
          const std::vector<index_t> after = saved_steps(directory);
          REQUIRE(!after.empty());
          CHECK(after.back() == end);
          if (end == done) CHECK(after == before);
        }
}

TEST_CASE("without --resume a run stops at the first limit that it reaches") {
  const TemporaryDirectory work;
  for (const index_t stop : {0, 1, 4, 5, 6}) {
    INFO("stop after ", stop);
    const std::string directory = run_folder_in(work, static_cast<int>(stop));
    Part part(directory, 5, false, stop, 100);
    part.go();
    const index_t end = stop > 0 ? std::min<index_t>(stop, 5) : 5;
    CHECK(part.trained == end);
    CHECK(part.stopped == (end < 5));
    CHECK(saved_steps(directory) == std::vector<index_t>{end});
  }
}

TEST_CASE("a run that goes in strides stops, or saves its end, at the first step that reaches a limit") {
  const TemporaryDirectory work;
  for (const index_t stop : {0, 5}) {
    const std::string directory = run_folder_in(work, static_cast<int>(stop));
    Part part(directory, 7, false, stop, 100);
    const auto go = [&] {
      for (index_t step = 1; step <= 7; step += 2) part.step(step);
    };
    if (stop > 0) CHECK_THROWS_AS(go(), StopRequested);
    else go();
    CHECK(saved_steps(directory) == std::vector<index_t>{stop > 0 ? 6 : 8});
  }
}

TEST_CASE("a resumed run that has done the steps to stop after says so, and loads nothing") {
  const TemporaryDirectory work;
  const std::string directory = run_folder_in(work, 1);
  REQUIRE(Part(directory, 8, false, 3, 4).go().stopped);
  Part part(directory, 8, true, 2, 4);
  const Array before = part.layer.weight.value();
  try {
    part.checkpoints.resume();
    FAIL_CHECK("nothing was thrown");
  } catch (const StopRequested& stop) {
    CHECK(stop.exit_code() == 0);
    CHECK(std::string(stop.what()) == "stopped after 3 of 8 steps; to go on: program --resume " + directory);
  }
  check_equal(part.layer.weight.value(), before);
  Part wide(directory, 8, true, 2, 4, 3);  // a checkpoint that does not fit is told first
  check_throws<MismatchError>([&] { wide.checkpoints.resume(); }, "shape of layer.weight");
}

TEST_CASE("a signal that comes before the first step stops the run there") {
  const TemporaryDirectory work;
  for (const bool resume : {false, true}) {
    const std::string directory = run_folder_in(work, resume);
    const index_t done = resume ? 3 : 0;
    if (resume) REQUIRE(Part(directory, 8, false, done, 4).go().stopped);
    Part part(directory, 8, resume, 0, 4);
    std::raise(SIGTERM);
    try {
      part.checkpoints.resume();
      FAIL_CHECK("nothing was thrown");
    } catch (const StopRequested& stop) {
      CHECK(stop.exit_code() == 128 + SIGTERM);
      const std::string want = "stopped by SIGTERM after " + std::to_string(done) + " of 8 steps; to go on: ";
      CHECK(std::string(stop.what()).starts_with(want));
    }
  }
}

TEST_CASE("a resumed run without a step left leaves signals to the program") {
  const TemporaryDirectory work;
  const std::string directory = run_folder_in(work, 1);
  struct sigaction before{}, after{};
  sigaction(SIGTERM, nullptr, &before);
  for (const bool resume : {false, true}) {
    Part part(directory, 3, resume, 0, 4);
    part.go();
    CHECK(part.trained == (resume ? 0 : 3));
    sigaction(SIGTERM, nullptr, &after);
    CHECK((after.sa_handler == before.sa_handler));
  }
}

// How a run goes on or ended, by its events, its lock and its process.
#include <xtape/inspect/log/new_run_folder.hpp>
#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/reader.hpp>

#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

using namespace xtape;
using namespace xtape::test;

namespace {

/// A process that sleeps until it is killed.
class Sleeper {
 public:
  Sleeper() {
    char name[] = "sleep", seconds[] = "600";
    char* argv[] = {name, seconds, nullptr};
    REQUIRE(posix_spawnp(&process_, name, nullptr, nullptr, argv, environ) == 0);
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t process() const { return process_; }
  void pause() const {
    kill(process_, SIGSTOP);
    waitpid(process_, nullptr, WUNTRACED);
  }
  /// Kills it. Returns the number that it had.
  pid_t end() {
    if (!std::exchange(ended_, true)) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
    return process_;
  }

 private:
  pid_t process_ = 0;
  bool ended_ = false;
};

/// A run folder without an end, whose lock file nobody holds.
struct LeftRun {
  TemporaryDirectory work;
  std::string directory = MadeRun{.steps = 3, .finished = false}.write(work, "run");

  RunStatus with(const ProcessIdentity& holder) {
    work.write("run/.lock", "");
    struct stat status{};
    REQUIRE(stat((directory + "/.lock").c_str(), &status) == 0);
    work.write("run/.lock", lock_text({holder, status.st_ino}));
    return read_run(directory).status;
  }
};

}  // namespace

TEST_CASE("a process is told from one that got its number later") {
  Sleeper sleeper;
  const ProcessIdentity self = this_process();
  CHECK(process_life(self) == ProcessLife::running);
  CHECK(process_life({.process = self.process, .started = self.started + 1}) == ProcessLife::another);
  CHECK(process_life({.process = sleeper.process()}) == ProcessLife::running);
  sleeper.pause();
  CHECK(process_life({.process = sleeper.process()}) == ProcessLife::paused);
  CHECK(process_life({.process = sleeper.end()}) == ProcessLife::gone);
}

TEST_CASE("the text of a lock is read back; older ones hold a number alone") {
  const LockRecord record{{4711, 99, "boot", "h\xFCst"}, 5};
  const std::optional<LockRecord> read = read_lock_text(lock_text(record));
  REQUIRE(read);
  CHECK(read->holder.process == 4711);
  CHECK(read->holder.started == 99);
  CHECK(read->holder.boot == "boot");
  CHECK(read->holder.host == "h\xFCst");
  CHECK(read->inode == 5);
  CHECK(read_lock_text("4711")->holder.process == 4711);
  for (const char* wrong : {"", "{}", "[1]", "4e30", "{\"process\":-1", "{\"process\":1.5}"})
    CHECK(!read_lock_text(wrong));
}

TEST_CASE("a run without an end is running, killed, out of date or unknown by its lock") {
  LeftRun run;
  const ProcessIdentity self = this_process();
  CHECK(read_run(run.directory).status.text == "not finished; whether it goes on is not known: there is no lock");
  {
    const FolderLock lock(run.directory);
    const RunStatus status = read_run(run.directory).status;
    CHECK(status.state == RunState::running);
    CHECK(status.text == "running (process " + std::to_string(getpid()) + ")");
  }
  RunStatus status = read_run(run.directory).status;
  CHECK(status.state == RunState::killed);
  CHECK(status.text == "killed: process " + std::to_string(getpid()) + " has given the folder up");

  Sleeper sleeper;
  ProcessIdentity gone = self;
  gone.process = sleeper.end();
  CHECK(run.with(gone).text == "killed: process " + std::to_string(gone.process) + " is gone");
  ProcessIdentity another = self;
  ++another.started;
  status = run.with(another);
  CHECK(status.state == RunState::out_of_date);
  CHECK(status.text == "out of date: process " + std::to_string(self.process) + " is another program now");
  ProcessIdentity before = self;
  before.boot = "another";
  CHECK(run.with(before).text == "out of date: the machine was started again since");
  ProcessIdentity elsewhere = gone;
  elsewhere.host = "elsewhere";
  status = run.with(elsewhere);
  CHECK(status.state == RunState::unknown);
  CHECK(status.text == "not finished; whether it goes on is not known: it ran on elsewhere");

  run.work.write("run/.lock", "4711");  // of an older version
  CHECK(read_run(run.directory).status.state == RunState::unknown);
  run.work.write("run/.lock", "rubbish");
  CHECK(read_run(run.directory).status.state == RunState::unknown);
}

TEST_CASE("a copied folder says nothing about its run, and half a line tells that it was killed in the middle") {
  LeftRun run;
  Sleeper sleeper;
  ProcessIdentity gone = this_process();
  gone.process = sleeper.end();
  CHECK(run.with(gone).state == RunState::killed);
  std::filesystem::copy(run.directory, run.work.path() + "/copy");
  CHECK(read_run(run.work.path() + "/copy").status.text ==
        "not finished; whether it goes on is not known: the folder is a copy");
  const std::string text = content_of(run.directory + "/metrics.jsonl");
  run.work.write("run/metrics.jsonl", text.substr(0, text.size() - 30));
  const RunStatus status = read_run(run.directory).status;
  CHECK(status.state == RunState::torn);
  CHECK(status.text == "killed in the middle of a line: process " + std::to_string(gone.process) + " is gone");
}

TEST_CASE("the last event says how a run ended, until it is resumed") {
  const TemporaryDirectory work;
  CHECK(read_run(MadeRun{.steps = 3}.write(work, "finished")).status.text == "finished");
  const EventRecord stop{20, "stopped", "stopped by SIGINT after 21 of 30 steps"};
  const std::string directory = MadeRun{.steps = 3, .events = {stop}, .finished = false}.write(work, "run");
  RunReader reader(directory);
  CHECK(reader.run().status.state == RunState::stopped);
  CHECK(reader.run().status.text == stop.text);
  CHECK(!reader.update());
  {
    const FolderLock lock(directory);  // a resumed run, which has not cut its events yet
    CHECK(reader.update());
    CHECK(reader.run().status.state == RunState::running);
  }
  CHECK(step_of_json_line(event_line(stop)) == std::numeric_limits<index_t>::max());
  for (const RunState state : {RunState::running, RunState::paused, RunState::unknown}) CHECK(!has_ended(state));
  for (const RunState state :
       {RunState::finished, RunState::stopped, RunState::killed, RunState::torn, RunState::out_of_date})
    CHECK(has_ended(state));
  CHECK(state_name(RunState::out_of_date) == std::string("out of date"));
}

TEST_CASE("who asks for the state of a run does not keep another from starting") {
  const TemporaryDirectory work;
  work.write(".lock", "");
  std::atomic<bool> done = false;
  std::thread asks([&] {
    while (!done) lock_held(work.path());
  });
  for (int i = 0; i < 200; ++i) CHECK_NOTHROW(FolderLock(work.path()));
  done = true;
  asks.join();
}

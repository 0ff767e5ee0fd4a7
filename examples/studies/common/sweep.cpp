#include "sweep.hpp"

#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/log/console.hpp>
#include <xtape/inspect/log/new_run_folder.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>
#include <thread>

namespace xtape::examples {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kOwner = "sweep.txt";  // in the sweep's directory: whose it is
constexpr const char* kResults = "results.json";

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw FileError("sweep", path + ": " + reason);
}

void check_names(const std::vector<SweepRun>& runs) {
  std::set<std::string> names;
  for (const SweepRun& run : runs) {
    const bool plain = std::all_of(run.name.begin(), run.name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; });
    if (!plain || run.name.empty() || run.name.front() == '.' || run.name == "logs" || run.name == kOwner)
      throw ValueError("sweep", "'" + run.name + "' is no name for a run");
    if (!names.insert(run.name).second) throw ValueError("sweep", "two runs are named " + run.name);
  }
}

/// Makes the directory, or sees that it is this program's.
void open_directory(const SweepOptions& o) {
  const fs::path owner = fs::path(o.directory) / kOwner;
  std::error_code error;
  if (fs::exists(owner, error)) {
    if (read_file(owner) != o.program + "\n") fail(o.directory, "it holds the runs of another program");
    return;
  }
  make_run_folder(o.directory, o.program);
  write_file(owner, o.program + "\n");
}

/// Seconds as "4.2 s".
std::string seconds_text(Clock::time_point since) {
  return number_text(std::chrono::duration<double>(Clock::now() - since).count(), "%.1f s");
}

/// The last line of a file that is not empty, for messages.
std::string last_line(const std::string& path) {
  std::string text = read_file(path);
  text.erase(text.find_last_not_of("\r\n ") + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// In the child: makes the run, and ends the process.
[[noreturn]] void run_in_child(const SweepRun& run, const SweepBody& body, const std::string& directory, int log,
                               pid_t parent) noexcept {
  int code = 1;
  // Runs that outlive their sweep would be in the way of the next start.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent && ::dup2(log, STDOUT_FILENO) >= 0 &&
      ::dup2(log, STDERR_FILENO) >= 0) {
    try {
      const Results results = body(run, directory);
      fs::create_directories(directory);  // a body may leave nothing but its results
      write_file(directory + "/" + kResults, results_json({run.arguments, results}));
      code = 0;
    } catch (const std::exception& error) {
      std::cerr << error.what() << "\n";
    }
  }
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  ::_exit(code);  // what the parent registered to run at its end is the parent's
}

class Sweep {
 public:
  Sweep(const std::vector<SweepRun>& runs, const SweepBody& body, const SweepOptions& options)
      : runs_(runs), body_(body), options_(options), lock_(options.directory), console_(std::ssize(runs), true) {
    fs::create_directories(options.directory + "/logs");
    for (const SweepRun& run : runs) outcomes_.push_back({options.directory + "/" + run.name});
  }
  ~Sweep() {
    for (const auto& [process, started] : running_) ::kill(process, SIGKILL);
    for (const auto& [process, started] : running_) ::waitpid(process, nullptr, 0);
  }

  std::vector<SweepOutcome> run() {
    for (std::size_t i = 0; i < runs_.size(); ++i) keep_finished(i);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (outcomes_[i].kept) continue;
      if (running_.size() == static_cast<std::size_t>(options_.processes)) wait_for_one();
      start(i);
    }
    while (!running_.empty()) wait_for_one();
    console_.end_progress();
    return outcomes_;
  }

 private:
  struct Running {
    std::size_t run;
    Clock::time_point since;
  };

  std::string log_of(std::size_t i) const { return options_.directory + "/logs/" + runs_[i].name + ".txt"; }

  void keep_finished(std::size_t i) {
    SweepOutcome& outcome = outcomes_[i];
    const std::string path = outcome.directory + "/" + kResults;
    if (!fs::exists(path)) return;
    const FinishedRun finished = results_of_json(read_file(path), path);
    if (finished.arguments != runs_[i].arguments)
      fail(outcome.directory, "this run was made with other options; take another directory for the sweep");
    outcome.results = finished.results;
    outcome.kept = true;
    console_.progress(++done_);
  }

  void start(std::size_t i) {
    fs::remove_all(outcomes_[i].directory);  // of a run that was interrupted
    const int log = open_file(log_of(i), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    if (log < 0) fail(log_of(i), std::strerror(errno));
    std::cout.flush();  // or the child would print it again
    std::fflush(nullptr);
    const pid_t parent = ::getpid(), child = ::fork();
    if (child == 0) run_in_child(runs_[i], body_, outcomes_[i].directory, log, parent);
    ::close(log);
    if (child < 0) fail(outcomes_[i].directory, std::string("no process can be made: ") + std::strerror(errno));
    running_.emplace(child, Running{i, Clock::now()});
  }

  void wait_for_one() {
    // Only these are asked for: the caller may have children of its own to wait for.
    int status = 0;
    auto found = running_.begin();
    while (::waitpid(found->first, &status, WNOHANG) == 0) {
      if (++found != running_.end()) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      found = running_.begin();
    }
    const Running running = found->second;
    running_.erase(found);
    finish(running, status);
  }

  void finish(const Running& running, int status) {
    SweepOutcome& outcome = outcomes_[running.run];
    const std::string name = runs_[running.run].name, took = seconds_text(running.since);
    ++done_;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      const std::string path = outcome.directory + "/" + kResults;
      outcome.results = results_of_json(read_file(path), path).results;
      console_.line("[" + std::to_string(done_) + "/" + std::to_string(runs_.size()) + "] " + name + ", " + took);
    } else {
      outcome.trouble = WIFEXITED(status) ? last_line(log_of(running.run))
                                          : std::string("ended by signal ") + std::to_string(WTERMSIG(status));
      console_.warning(name + " failed after " + took + ": " + outcome.trouble + "; see " + log_of(running.run));
    }
    console_.progress(done_);
  }

  const std::vector<SweepRun>& runs_;
  const SweepBody& body_;
  const SweepOptions& options_;
  FolderLock lock_;
  Console console_;
  std::vector<SweepOutcome> outcomes_;
  std::map<pid_t, Running> running_;
  index_t done_ = 0;
};

}  // namespace

std::vector<SweepOutcome> sweep(const std::vector<SweepRun>& runs, const SweepBody& body, const SweepOptions& options) {
  if (options.processes < 1) throw ValueError("sweep", "there must be at least one process");
  check_names(runs);
  open_directory(options);
  return Sweep(runs, body, options).run();
}

}  // namespace xtape::examples

// Trains in child processes: a tape belongs to a thread, a run log to a process, and a crash must not end the bench.
#include "results.hpp"

#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/verdicts/diagnosis.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace xtape::faults {

namespace {

namespace fs = std::filesystem;

/// A fresh directory, removed at the end.
class Workspace {
 public:
  Workspace() {
    std::string name = (fs::temp_directory_path() / "xtape-faults-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make a directory in " + fs::temp_directory_path().string());
    path_ = name;
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// DIR/<half>/<kind>-<model>
fs::path folder_of(const std::string& parent, const std::string& key) {
  std::string name = key;
  std::replace(name.begin(), name.end(), '/', '-');
  return fs::path(parent) / name_of(half_of(key)) / name;
}

void judge_run(const std::string& directory, Result& out) {
  const RunData run = read_run(directory);
  const Diagnosis diagnosis = diagnose(run);
  if (const auto& cause = diagnosis.cause) {
    out.said.detected = true;
    out.said.id = cause->id;
    out.said.layer = cause->layer;
    out.said.finding = finding_name(cause->finding);
    out.said.answer = cause->answer;
    out.said.evidence = cause->evidence;
    out.said.remedy = cause->remedy;
    out.said.step = cause->step;
    out.said.advice.push_back(cause->remedy);
    out.red = cause->finding == Finding::bad;
  }
  for (const Verdict& verdict : diagnosis.consequences) {
    out.said.consequences.push_back(verdict.id);
    out.said.advice.push_back(verdict.remedy);
    out.red = out.red || verdict.finding == Finding::bad;
  }
  for (const Verdict& verdict : judge(run)) {
    if (verdict.finding != Finding::bad && verdict.finding != Finding::warning) continue;
    out.all += (out.all.empty() ? "" : ",") + verdict.id;
    out.red = out.red || verdict.finding == Finding::bad;
  }
}

Result result_of_training(const Job& job, const std::string& directory) {
  Result out;
  const auto begin = std::chrono::steady_clock::now();
  out.outcome = train(job.recipe, directory);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out.said.refused = out.outcome.refused;
  if (out.outcome.refused.empty()) judge_run(directory, out);
  return out;
}

[[noreturn]] void work(const Job& job, const std::string& directory, const fs::path& file) {
  int code = 1;
  if (const int null = ::open("/dev/null", O_RDWR); null >= 0)  // warnings of faulty runs would hide the table
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  try {
    std::ofstream(file) << json_of(result_of_training(job, directory)).dump();
    code = 0;
  } catch (const std::exception& error) {
    Result failed;
    failed.died = error.what();
    std::ofstream(file) << json_of(failed).dump();
    code = 0;
  }
  std::_Exit(code);
}

Result read_result(const fs::path& file, int status) {
  std::ifstream in(file);
  const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_discarded()) return result_of(json);
  Result failed;
  failed.died = "ended with status " + std::to_string(status);
  return failed;
}

}  // namespace

std::vector<Result> run_jobs(const std::vector<Job>& jobs, const Options& options) {
  const Workspace workspace;
  const std::string parent = options.keep.empty() ? workspace.path().string() : options.keep;
  const auto file_of = [&](std::size_t job) { return workspace.path() / (std::to_string(job) + ".json"); };
  std::vector<Result> results(jobs.size());
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  while (next < jobs.size() || !running.empty()) {
    while (next < jobs.size() && running.size() < static_cast<std::size_t>(options.jobs)) {
      const fs::path folder = folder_of(parent, jobs[next].key);
      fs::create_directories(folder.parent_path());
      const pid_t child = ::fork();
      if (child < 0) throw std::runtime_error("cannot start a process");
      if (child == 0) work(jobs[next], folder.string(), file_of(next));
      running[child] = next++;
    }
    int status = 0;
    const pid_t ended = ::wait(&status);
    const auto found = running.find(ended);
    if (found == running.end()) throw std::runtime_error("lost a process");
    const std::size_t job = found->second;
    running.erase(found);
    results[job] = read_result(file_of(job), status);
    if (options.keep.empty()) fs::remove_all(folder_of(parent, jobs[job].key));
  }
  return results;
}

}  // namespace xtape::faults

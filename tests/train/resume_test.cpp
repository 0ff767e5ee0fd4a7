// The examples as a user stops and resumes them: 20 steps at once, or in parts by processes of their own.
#include <xtape/inspect/run/reader.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <signal.h>
#include <sys/file.h>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
namespace fs = std::filesystem;

#if defined(XTAPE_CHAR_RNN) && defined(XTAPE_CHAR_TRANSFORMER) && !defined(XTAPE_DOUBLE)

namespace {

struct Example {
  std::string program;
  std::vector<std::string> options;
};

/// Small runs with dropout, one with random features, whose checkpoints come mid-epoch, and where lines, validation and
/// checkpoints do not coincide.
std::vector<Example> examples() {
  const std::vector<std::string> all = {
      "--text",         "text", "--context",      "16", "--batch",         "4", "--dropout", "0.2", "--layers", "2",
      "--log-interval", "3",    "--val-interval", "7",  "--save-interval", "5", "--sample",  "10",  "--steps",  "20"};
  std::vector<Example> out = {
      {XTAPE_CHAR_RNN, all}, {XTAPE_CHAR_RNN, all}, {XTAPE_CHAR_TRANSFORMER, all}, {XTAPE_CHAR_TRANSFORMER, all}};
  out[0].options.insert(out[0].options.end(), {"--cell", "lstm", "--hidden", "24"});
  out[1].options.insert(out[1].options.end(), {"--cell", "gru", "--hidden", "24"});
  out[2].options.insert(out[2].options.end(), {"--width", "16", "--heads", "2"});
  out[3].options.insert(out[3].options.end(),
                        {"--width", "16", "--heads", "2", "--attention", "prf"});  // random features
  return out;
}

std::vector<std::string> with(std::vector<std::string> options, const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// All that a run leaves but what depends on the clock.
std::map<std::string, std::string> contents(const std::string& run) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".safetensors" || name == "grad_norms.csv" || name == "events.jsonl")
      out[fs::relative(entry.path(), run)] = content_of(entry.path());
    if (name.starts_with("events.out.tfevents"))  // one file, whose times change no record's size
      out["tensorboard"] += std::to_string(fs::file_size(entry.path())) + "\n";
  }
  for (const std::string& line : lines_of(content_of(run + "/metrics.jsonl")))
    out["metrics.jsonl"] += line.substr(0, line.find(",\"wall\":{")) + "\n";
  return out;
}

void check_same(const std::string& run, const std::map<std::string, std::string>& want) {
  const auto got = contents(run);
  for (const auto& [name, content] : want) {
    REQUIRE_MESSAGE(got.contains(name), run, " has no ", name);
    CHECK_MESSAGE(got.at(name) == content, run, "/", name, " differs");
  }
  CHECK(got.size() == want.size());
}

}  // namespace

TEST_CASE("20 steps equal 7 and 3 and 10 in new processes, at 1 and 2 threads") {
  const TemporaryDirectory work;
  work.write("text", some_text(300));
  int number = 0;
  for (const Example& example : examples()) {
    const std::string whole = "whole" + std::to_string(++number), parts = "parts" + std::to_string(number);
    INFO(example.program, " ", whole);
    Finished result = run(example.program, with(example.options, {"--out", whole, "--threads", "1"}), work.path());
    INFO(result.err);
    REQUIRE(result.code == 0);
    const std::string sample = result.out.substr(result.out.find("A sample:"));
    result = run(example.program, with(example.options, {"--out", parts, "--stop-after", "7", "--threads", "1"}),
                 work.path());
    CHECK(result.code == 0);
    const std::string name = fs::path(example.program).filename();
    CHECK(result.err == "stopped after 7 of 20 steps; to go on: " + name + " --resume " + parts + "\n");
    result = run(example.program, {"--resume", parts, "--stop-after", "10", "--threads", "2"}, work.path());
    CHECK(result.code == 0);
    CHECK(result.out.find("Going on at step 7 from " + parts + "/checkpoints/step_7.safetensors\n") !=
          std::string::npos);
    fs::remove(work.path() + "/" + parts + "/checkpoints/step_7.safetensors");  // the whole run has none
    fs::copy(work.path() + "/" + parts, work.path() + "/" + parts + "again", fs::copy_options::recursive);
    for (const std::string& go_on : {parts, parts + "again"}) {  // the second time at one thread
      result = run(example.program, {"--resume", go_on, "--threads", go_on == parts ? "2" : "1"}, work.path());
      CHECK(result.err == "");
      CHECK(result.code == 0);
      CHECK(result.out.substr(result.out.find("A sample:")) == sample);
      check_same(work.path() + "/" + go_on, contents(work.path() + "/" + whole));
    }
    result = run(example.program, {"--resume", parts}, work.path());  // nothing is left to do
    CHECK(result.code == 0);
    check_same(work.path() + "/" + parts, contents(work.path() + "/" + whole));
  }
}

TEST_CASE("lines after the newest checkpoint are cut when a run goes on, also half ones") {
  const TemporaryDirectory work;
  work.write("text", some_text(300));
  const Example example = examples().back();
  REQUIRE(run(example.program, with(example.options, {"--out", "whole"}), work.path()).code == 0);
  REQUIRE(run(example.program, with(example.options, {"--out", "killed", "--stop-after", "13"}), work.path()).code ==
          0);
  const std::string killed = work.path() + "/killed";
  fs::remove(killed + "/checkpoints/step_13.safetensors");  // killed at step 13, with step 10 saved
  std::ofstream(killed + "/metrics.jsonl", std::ios::app) << R"({"format_version":1,"ste)";
  std::ofstream(killed + "/grad_norms.csv", std::ios::app) << "12,grad_norm_preclip,lay";
  work.write("killed/checkpoints/step_15.safetensors.new", "half");
  CHECK(run(example.program, {"--resume", "killed"}, work.path()).code == 0);
  auto want = contents(work.path() + "/whole");
  check_same(killed, want);

  fs::remove_all(killed + "/checkpoints");  // killed before the first checkpoint
  CHECK(run(example.program, {"--resume", "killed"}, work.path()).code == 0);
  check_same(killed, want);
}

TEST_CASE("a run is resumed with its own options, text and program only") {
  const TemporaryDirectory work;
  work.write("text", some_text(300));
  const Example example = examples().back();
  REQUIRE(run(example.program, with(example.options, {"--out", "run", "--stop-after", "5"}), work.path()).code == 0);
  work.write("copy", some_text(300));
  work.write("other", some_text(300) + ".");
  work.write("empty/run.json", "{}");
  work.write("number/run.json", "3");
  fs::create_directory(work.path() + "/none");
  const auto before = contents(work.path() + "/run");
  const std::string run_json_text = content_of(work.path() + "/run/run.json");
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--resume", "nowhere"}, "[resume] there is no directory 'nowhere'"},
      {{"--resume", ""}, "there is no directory ''"},
      {{"--resume", "none"}, "none has no run.json: it is not the directory of a run"},
      {{"--resume", "empty"}, "empty/run.json is damaged"},
      {{"--resume", "number"}, "number/run.json is damaged"},
      {{"--resume", "run", "--width", "32"}, "--width was 16 in run and stays so when it is resumed"},
      {{"--resume", "run", "--out", "x"}, "--out and --resume exclude each other"},
      {{"--resume", "run", "--quick"}, "--quick was not given in run and stays so when it is resumed"},
      {{"--resume", "run", "--text", "other"}, "does not fit: the text is not the same"},
      {{"--text", "text", "--out", "run"},
       "run: the directory is not empty; a run needs its own directory, or --resume to continue"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = run(example.program, options, work.path());
    INFO(options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(contents(work.path() + "/run") == before);
    CHECK(content_of(work.path() + "/run/run.json") == run_json_text);
  }
  const Finished rnn = run(XTAPE_CHAR_RNN, {"--resume", "run"}, work.path());
  CHECK(rnn.err.find("run: expected a run of the program char_rnn, got one of 'char_transformer'") !=
        std::string::npos);
  const Finished moved =
      run(example.program, {"--resume", "run", "--text", "copy", "--width", "16", "--steps", "9", "--threads", "2"},
          work.path());
  CHECK(moved.err == "");
  const auto after = nlohmann::json::parse(content_of(work.path() + "/run/run.json"));
  CHECK(after["options"]["steps"] == 9);
  CHECK(after["resumed"].size() == 1);
  CHECK(after["resumed"][0]["threads"] == 2);
}

namespace {

/// A run of very many steps in the background, which has begun to train.
class Background {
 public:
  Background(const Example& example, const std::string& work) : work_(work) {
    const std::vector<std::string> options = with(example.options, {"--steps", "10000000", "--out", "run"});
    std::vector<char*> argv = {const_cast<char*>(example.program.c_str())};
    for (const std::string& option : options) argv.push_back(const_cast<char*>(option.c_str()));
    argv.push_back(nullptr);
    const std::string out = work + "/out", err = work + "/err";
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {  // only system calls until exec
      const int out_file = open(out.c_str(), O_WRONLY | O_CREAT, 0600),
                err_file = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
      if (dup2(out_file, 1) == 1 && dup2(err_file, 2) == 2 && chdir(work.c_str()) == 0) execv(argv[0], argv.data());
      _exit(127);
    }
    for (int i = 0; i < 6000 && !fs::exists(work + "/run/checkpoints/step_5.safetensors"); ++i) usleep(10'000);
    REQUIRE(fs::exists(work + "/run/checkpoints"));
  }
  ~Background() {
    if (process_ > 0) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
  }
  void signal(int number) const { kill(process_, number); }
  /// The status of waitpid, once it has ended.
  int wait() {
    int status = 0;
    REQUIRE(waitpid(std::exchange(process_, -1), &status, 0) > 0);
    return status;
  }
  std::string err() const { return content_of(work_ + "/err"); }

 private:
  std::string work_;
  pid_t process_;
};

}  // namespace

TEST_CASE("a run goes on with its own files, whatever bytes their names hold") {
  const TemporaryDirectory work;
  const std::string name = "caf\xE9 %41.txt", out = "r\xFCn";
  work.write(name, some_text(300));
  for (Example example : {examples()[0], examples()[2]}) {
    example.options[1] = name;
    Finished result = run(example.program, with(example.options, {"--out", out, "--stop-after", "5"}), work.path());
    INFO(result.err);
    REQUIRE(result.code == 0);
    result = run(example.program, {"--resume", out}, work.path());
    INFO(result.err);
    CHECK(result.code == 0);
    CHECK(fs::exists(work.path() + "/" + out + "/checkpoints/step_20.safetensors"));
    fs::remove_all(work.path() + "/" + out);
  }
}

TEST_CASE("SIGINT, SIGTERM and SIGHUP end a run after the step, with a checkpoint and a line that says how to go on") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryDirectory work;
    work.write("text", some_text(300));
    const Example example = examples().back();
    Background background(example, work.path());
    const Finished second = run(example.program, {"--resume", "run"}, work.path());  // two processes on one directory
    CHECK(second.code == 2);
    CHECK(second.err.find("run: the directory is in use by another run (process ") != std::string::npos);
    background.signal(number);
    const int status = background.wait();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + number);
    const std::string err = background.err();
    INFO(err);
    CHECK(err.find(std::string("stopped by ") +
                   (number == SIGINT    ? "SIGINT"
                    : number == SIGTERM ? "SIGTERM"
                                        : "SIGHUP") +
                   " after ") != err.npos);
    CHECK(err.find(" of 10000000 steps; to go on: char_transformer --resume run\n") != err.npos);
    const std::size_t at = err.find("after ", err.find("stopped by")) + 6;
    const std::string done = err.substr(at, err.find(' ', at) - at);
    CHECK(fs::exists(work.path() + "/run/checkpoints/step_" + done + ".safetensors"));
    const RunData stopped = read_run(work.path() + "/run");
    CHECK(stopped.status.state == RunState::stopped);
    CHECK(err.find(stopped.status.text + "; to go on: ") != err.npos);
    const std::string more = std::to_string(std::stol(done) + 3);
    CHECK(run(example.program, {"--resume", "run", "--steps", more}, work.path()).code == 0);
    CHECK(read_run(work.path() + "/run").status.state == RunState::finished);
  }
}

#endif

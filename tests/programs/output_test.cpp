// Output that cannot be written is told, by every command.
#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <sstream>

using namespace xtape;
using namespace xtape::test;

#ifndef XTAPE_DOUBLE  // one dtype is enough

namespace {

struct Printer {
  std::string program;
  std::vector<std::string> arguments;
};

/// Runs a command with something else than a file as its stdout: "> /dev/full".
Finished run_to(const std::string& redirection, const Printer& command, const std::string& directory) {
  std::vector<std::string> arguments = {"-c", "exec \"$0\" \"$@\" " + redirection, command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  return run("/bin/sh", arguments, directory);
}

/// Everything that prints: each command of xtape, --help of every program, runs, their samples and evaluations.
std::vector<Printer> printers(const TemporaryDirectory& work) {
  const std::string made = MadeRun{}.write(work, "made"), weights = work.path() + "/weights";
  const std::vector<float> numbers = {1, 2};
  write_safetensors(weights, {{"a", DType::f32, {2}, bytes_of(numbers.data(), 2)}});
  std::vector<Printer> out = {{XTAPE_COMMAND, {"--help"}},
                              {XTAPE_COMMAND, {"inspect", made}},
                              {XTAPE_COMMAND, {"inspect", "--json", made}},
                              {XTAPE_COMMAND, {"inspect", "--follow", made}},
                              {XTAPE_COMMAND, {"report", made}},
                              {XTAPE_COMMAND, {"compare", made}},
                              {XTAPE_COMMAND, {"weights", weights}},
                              {XTAPE_ARGS_PROGRAM, {}},
                              {XTAPE_ARGS_PROGRAM, {"--help"}}};
  for (const char* command : {"inspect", "report", "compare", "weights"})
    out.push_back({XTAPE_COMMAND, {command, "--help"}});
#ifdef XTAPE_EXAMPLE_PROGRAMS
  std::istringstream paths(XTAPE_EXAMPLE_PROGRAMS);
  for (std::string path; std::getline(paths, path, ':');) out.push_back({path, {"--help"}});
#endif
#ifdef XTAPE_CHAR_RNN
  work.write("text", some_text(300));
  const std::vector<std::string> small = {"--text",   "text", "--steps",     "3", "--context", "16", "--batch", "4",
                                          "--hidden", "8",    "--embedding", "4", "--sample",  "20"};
  std::vector<std::string> first = small, second = small;
  first.insert(first.end(), {"--out", "first"});
  second.insert(second.end(), {"--out", "second"});
  REQUIRE(run(XTAPE_CHAR_RNN, first, work.path()).code == 0);
  out.push_back({XTAPE_CHAR_RNN, second});
  out.push_back({XTAPE_CHAR_RNN, {"--weights", "first/weights.safetensors", "--evaluate", "text"}});
#endif
  return out;
}

std::string shown(const Printer& command) {
  std::string out = command.program;
  for (const std::string& argument : command.arguments) out += " " + argument;
  return out;
}

}  // namespace

TEST_CASE("a full disk behind stdout is one line on stderr and an exit code, for every command") {
  const TemporaryDirectory work;
  for (const Printer& command : printers(work)) {
    const Finished result = run_to("> /dev/full", command, work.path());
    INFO(shown(command), " gave ", result.code, ": ", result.err);
    CHECK(result.code == 1);
    CHECK(result.err.starts_with("error: standard output cannot be written: "));
    CHECK(lines_of(result.err).size() == 1);
    const Finished sound = run_to("> /dev/null", command, work.path());
    if (command.arguments.size() > 8) continue;  // a run, whose folder is taken now
    CHECK(sound.code == 0);
    CHECK(sound.err == "");
  }
}

TEST_CASE("a closed stdout is told by commands that only print") {
  const TemporaryDirectory work;
  const Printer inspect = {XTAPE_COMMAND, {"inspect", MadeRun{}.write(work, "made")}};
  const Finished result = run_to(">&-", inspect, work.path());
  CHECK(result.code == 1);
  CHECK(result.err.starts_with("error: standard output cannot be written: "));
}

TEST_CASE("OMP_NUM_THREADS counts if it is a number of threads") {
  const TemporaryDirectory work;
  const auto threads_with = [&](const std::string& value) {
    const Finished result = run("/usr/bin/env", {"OMP_NUM_THREADS=" + value, XTAPE_ARGS_PROGRAM}, work.path());
    CHECK(result.code == 0);
    std::istringstream words(result.out.substr(result.out.find('|') + 1));
    int steps = 0, seed = 0, count = 0;
    words >> steps >> seed >> count;
    return count;
  };
  const int all = threads_with("");
  CHECK(all >= 1);
  CHECK(threads_with("3") == 3);
  CHECK(threads_with("3,2") == 3);
  CHECK(threads_with("1024") == 1024);
  for (const char* none : {"0", "-2", "many", "1025", "2147483648", "99999999999999999999"})
    CHECK_MESSAGE(threads_with(none) == all, none);
}

#endif

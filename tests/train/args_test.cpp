#include <xtape/core/threads.hpp>
#include <xtape/train/args.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <algorithm>

using namespace xtape;
using namespace xtape::test;

namespace {

Finished run_args(const std::vector<std::string>& arguments) { return run(XTAPE_ARGS_PROGRAM, arguments); }

struct Refused {
  std::vector<std::string> arguments;
  std::string message;
};

}  // namespace

TEST_CASE("options have their defaults, then the values given") {
  const Finished plain = run_args({"--threads", "1"});
  CHECK(plain.code == 0);
  CHECK(plain.out == "128 lstm 0.001 0 kjv.txt 0 | 100 0 1 0 ''\n");
  const Finished given =
      run_args({"--width", "7", "--cell=gru", "--lr", "2.5e-4", "--weight-decay", "1e300", "--text", "a b,[c]",
                "--tied", "--steps=9", "--seed", "9223372036854775807", "--threads", "2", "--out", "x/y", "--quick"});
  CHECK(given.err == "");
  CHECK(given.out == "7 gru 0.00025 1e+300 a b,[c] 1 | 9 9223372036854775807 2 1 'x/y'\n");
  CHECK(run_args({"--quick", "--threads=1"}).out == "128 lstm 0.001 0 kjv.txt 0 | 3 0 1 1 ''\n");
  CHECK(run_args({"--width", "7", "--threads=1", "--width", "8"}).out == "8 lstm 0.001 0 kjv.txt 0 | 100 0 1 0 ''\n");
}

TEST_CASE("bad arguments give one line and exit code 2") {
  const std::vector<Refused> table = {
      {{"--width", "0"}, "--width: expected a whole number from 1 to 4096, got '0'"},
      {{"--width", "4097"}, "--width: expected a whole number from 1 to 4096, got '4097'"},
      {{"--width", "-5"}, "--width: expected a whole number from 1 to 4096, got '-5'"},
      {{"--width", "3.5"}, "--width: expected a whole number from 1 to 4096, got '3.5'"},
      {{"--width", "12x"}, "--width: expected a whole number from 1 to 4096, got '12x'"},
      {{"--width", "99999999999999999999"}, "got '99999999999999999999'"},
      {{"--width", ""}, "--width: expected a whole number from 1 to 4096, got ''"},
      {{"--width="}, "--width"},
      {{"--lr", "1.5"}, "--lr: expected a number from 0 to 1, got '1.5'"},
      {{"--lr", "-0.1"}, "--lr: expected a number from 0 to 1, got '-0.1'"},
      {{"--lr", "nan"}, "--lr: expected a number from 0 to 1, got 'nan'"},
      {{"--lr", "abc"}, "--lr: expected a number from 0 to 1, got 'abc'"},
      {{"--weight-decay", "inf"}, "--weight-decay: expected a number of at least 0, got 'inf'"},
      {{"--weight-decay", "1e999"}, "--weight-decay: expected a number of at least 0, got '1e999'"},
      {{"--cell", "LSTM"}, "--cell: expected one of rnn, gru, lstm, got 'LSTM'"},
      {{"--seed", "-1"}, "--seed: expected a whole number of at least 0, got '-1'"},
      {{"--steps", "0"}, "--steps: expected a whole number from 1 to 1000000000, got '0'"},
      {{"--threads", "0"}, "--threads: expected a whole number from 1 to 1024, got '0'"},
      {{"--lr", "-inf"}, "--lr"},
      {{"--width"}, "--width needs a value"},
      {{"--lr", "--tied"}, "--lr: expected a number from 0 to 1, got '--tied'"},
      {{"--tied=maybe"}, "maybe"},
      {{"--wdith", "5"}, "there is no option --wdith; did you mean --width?"},
      {{"--weight", "5"}, "there is no option --weight; did you mean --weight-decay?"},
      {{"--treads=5"}, "there is no option --treads; did you mean --threads?"},
      {{"-width", "5"}, "there is no option -width; did you mean --width?"},
      {{"--momentum", "5"}, "there is no option --momentum; see --help"},
      {{"--rl", "5"}, "there is no option --rl; see --help"},
      {{"--", "5"}, "unexpected argument '5'"},
      {{"stray"}, "unexpected argument 'stray'"},
  };
  for (const Refused& entry : table) {
    const Finished result = run_args(entry.arguments);
    INFO(entry.arguments.front(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK(result.err.starts_with("error: [args_program] "));
    CHECK(result.err.find(entry.message) != std::string::npos);
    CHECK(lines_of(result.err).size() == 1);
  }
}

TEST_CASE("--help lists every option in its group and wins over bad values") {
  const Finished help = run_args({"--width", "0", "--help", "--nonsense"});
  CHECK(help.code == 0);
  CHECK(help.err == "");
  CHECK(run_args({"-h"}).out == help.out);
  const auto position = [&](const std::string& text) {
    const std::size_t found = help.out.find(text);
    CHECK_MESSAGE(found != std::string::npos, "missing: ", text, " in\n", help.out);
    return found;
  };
  CHECK(help.out.starts_with("Usage: args_program [OPTION...]\nPrints its options.\n"));
  CHECK(position("\nModel\n") < position("--width N          width of the model (1 to 4096; default 128)"));
  CHECK(position("--cell NAME        recurrent cell (rnn, gru, lstm; default lstm)") < position("\nOptimization\n"));
  CHECK(position("--lr X             peak learning rate (0 to 1; default 0.001)") < position("\nRun\n"));
  CHECK(position("--weight-decay X   weight decay (at least 0; default 0)") < position("\nRun\n"));
  CHECK(position("--tied             use the embedding as output layer\n") < position("\nRun\n"));
  for (const char* name : {"--steps N", "--seed N", "--threads N", "--out TEXT", "--quick", "--help"})
    CHECK(position(name) > position("\nRun\n"));
  for (const std::string& line : lines_of(help.out)) CHECK_MESSAGE(line.size() <= 100, line);
}

TEST_CASE("every exception of a program becomes one line and an exit code") {
  const std::vector<std::pair<std::string, std::pair<int, std::string>>> table = {
      {"value", {2, "error: [op] bad value\n"}},
      {"file", {2, "error: [op] bad file\n"}},
      {"tape", {1, "error: [op] bad tape\n"}},
      {"standard", {1, "error: something else\n"}},
      {"memory", {1, "error: out of memory\n"}},
      {"unknown", {1, "error: an exception of unknown type\n"}},
      {"no", {0, ""}},
  };
  for (const auto& [kind, expected] : table) {
    const Finished result = run_args({"--fail", kind});
    INFO(kind);
    CHECK(result.code == expected.first);
    CHECK(result.err == expected.second);
  }
}

TEST_CASE("wrong declarations are refused") {
  Args args("program", "About.");
  args.integer("width", 1, {1, 2}, "");
  check_throws<UsageError>([&] { args.number("width", 1, {1, 2}, ""); }, "option --width is declared twice");
  check_throws<UsageError>([&] { args.flag("help", ""); }, "option --help is declared twice");
  check_throws<UsageError>([&] { args.integer("steps", 1, {1, 2}, ""); }, "option --steps is declared twice");
  check_throws<UsageError>([&] { args.integer("depth", 3, {1, 2}, ""); },
                           "[program] --depth: expected a whole number from 1 to 2, got the default 3");
  check_throws<UsageError>([&] { args.choice("cell", {"rnn"}, "gru", ""); }, "got the default gru");
  check_throws<UsageError>([&] { Args("program", "About.", {.steps = 0}); }, "--steps: expected");
}

TEST_CASE("options are read after parsing only, and a failed parse changes nothing") {
  const int before = threads();
  Args args("program", "About.");
  const auto width = args.integer("width", 5, {1, 9}, "");
  check_throws<UsageError>([&] { (void)*width; }, "[program] an option is read before the arguments are parsed");
  const char* bad[] = {"program", "--threads", "3", "--steps", "7", "--width", "10"};
  check_throws<UsageError>([&] { args.parse(7, bad); }, "--width: expected a whole number from 1 to 9, got '10'");
  CHECK(threads() == before);
  check_throws<UsageError>([&] { args.steps(); }, "before the arguments are parsed");
  const char* good[] = {"program", "--width", "6"};
  args.parse(3, good);
  CHECK(width == 6);
  CHECK(args.steps() == 1000);
  check_throws<UsageError>([&] { args.flag("late", ""); }, "option --late is declared after");
}

TEST_CASE("the values are listed with their types") {
  Args args("program", "About.", {.steps = 4, .seed = 2});
  args.number("lr", 0.5, {0, 1}, "");
  args.flag("tied", "");
  args.text("text", "x", "");
  const char* given[] = {"program", "--tied", "--out=there", "--threads=1"};
  const int before = threads();
  args.parse(4, given);
  CHECK(threads() == 1);
  set_threads(before);
  const std::vector<std::pair<std::string, ArgValue>> expected = {
      {"steps", index_t{4}},         {"seed", index_t{2}}, {"threads", index_t{1}},
      {"out", std::string("there")}, {"quick", false},     {"on-trouble", std::string("warn")},
      {"detect-anomaly", false},     {"lr", 0.5},          {"tied", true},
      {"text", std::string("x")}};
  CHECK((args.values() == expected));
}

TEST_CASE("arguments convert to the description of a run") {
  Args args("program", "About.", {.steps = 5, .seed = 3});
  args.resumable();
  check_throws<UsageError>([&] { (void)RunDescription(args); }, "an option is read before the arguments are parsed");
  const char* argv[] = {"program", "--out", "somewhere", "--on-trouble", "skip", "--detect-anomaly"};
  args.parse(6, argv);
  const RunDescription run = args;
  CHECK(run.program == "program");
  CHECK(run.seed == 3);
  CHECK(run.steps == 5);
  CHECK(run.directory == "somewhere");
  CHECK(!run.resumes);
  CHECK(run.on_trouble == OnTrouble::skip);
  CHECK(run.detect_anomaly);
  CHECK(run.options == args.values());
}

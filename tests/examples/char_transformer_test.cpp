// The example as a user runs it, on a small text.
#include "child_process.hpp"
#include "support.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

#if defined(XTAPE_CHAR_TRANSFORMER) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

Finished train_transformer(const TemporaryDirectory& work, std::vector<std::string> options) {
  const std::vector<std::string> small = {
      "--text", work.path() + "/text", "--context", "16", "--width", "32", "--heads", "2", "--layers",
      "2",      "--threads",           "1"};
  options.insert(options.begin(), small.begin(), small.end());
  return run(XTAPE_CHAR_TRANSFORMER, options, work.path());
}

std::vector<json> metrics_without_wall(const std::string& directory) {
  std::vector<json> out;
  for (const std::string& line : lines_of(content_of(directory + "/metrics.jsonl"))) {
    out.push_back(json::parse(line));
    CHECK(out.back().erase("wall") == 1);
  }
  return out;
}

}  // namespace

TEST_CASE("the character transformer learns, logs and writes, the same for the same seed") {
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  const std::vector<std::string> options = {"--steps",  "60", "--log-interval", "20", "--dropout", "0.1",
                                            "--sample", "50", "--seed",         "4"};
  std::vector<Finished> runs;
  for (const char* out : {"one", "two"}) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--out", out, "--threads", out == std::string("two") ? "2" : "1"});
    runs.push_back(train_transformer(work, all));
    INFO(runs.back().err);
    CHECK(runs.back().code == 0);
    CHECK(runs.back().err == "");
  }
  const std::vector<json> first = metrics_without_wall(work.path() + "/one");
  CHECK(first.size() == 4);  // steps 0, 20, 40 and 59
  CHECK(first == metrics_without_wall(work.path() + "/two"));
  CHECK(first.back()["validation_loss"] < 0.8 * first.front()["validation_loss"].get<double>());
  for (const char* text : {"layers.1.self_attn.out_proj.weight", "The run is in one", "A sample:\n"})
    CHECK_MESSAGE(runs[0].out.find(text) != std::string::npos, runs[0].out);
  const auto sample = [](const Finished& f) { return f.out.substr(f.out.find("A sample:\n")); };
  CHECK(sample(runs[0]) == sample(runs[1]));
  CHECK(sample(runs[0]).size() == std::string("A sample:\n").size() + 50 + 1);
}

TEST_CASE("the character transformer learns with every attention and every kind of positions") {
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  std::vector<std::vector<std::string>> variants = {
      {"--positions", "sinusoidal"}, {"--positions", "rotary"}, {"--positions", "alibi"}};
  for (const std::string& name : attention_config_names()) variants.push_back({"--attention", name});
  for (std::vector<std::string> options : variants) {
    const std::string out = options[1];
    INFO(out);
    options.insert(options.end(), {"--steps", "120", "--log-interval", "119", "--sample", "20", "--top-k", "5",
                                   "--top-p", "0.9", "--out", out});
    const Finished result = train_transformer(work, options);
    INFO(result.err);
    CHECK(result.code == 0);
    const std::vector<json> metrics = metrics_without_wall(work.path() + "/" + out);
    CHECK(metrics.back()["validation_loss"] < 0.9 * metrics.front()["validation_loss"].get<double>());
  }
}

TEST_CASE("bad input to the example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  work.write("empty", "");
  work.write("short", "abc");
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--text", "none"}, "no such file"},
      {{"--text", "empty"}, "the text is empty"},
      {{"--text", "short"},
       "expected more symbols for training and for validation than the context of 16, got 2 and 1"},
      {{"--heads", "3"}, "heads"},
      {{"--width", "0"}, "--width: expected a whole number from 1 to 4096, got '0'"},
      {{"--out", "text"}, "it is not a directory"},
      {{"--out", "."}, "not empty"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = train_transformer(work, options);
    INFO(options.front(), " ", options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

/// False where no terminal can be made, as in a bare chroot without /dev/pts.
static bool has_terminals() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0) return false;
  const bool usable = ::grantpt(master) == 0 && ::unlockpt(master) == 0 && std::filesystem::exists(::ptsname(master));
  ::close(master);
  return usable;
}

TEST_CASE("on a terminal a progress bar runs below the lines") {
  if (!has_terminals()) {
    MESSAGE("no terminal can be made here: the progress bar is not tested");
    return;
  }
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  const std::string command = XTAPE_CHAR_TRANSFORMER " --quick --width 8 --layers 1 --context 8 --sample 0 --text text";
  const Finished result = run("/usr/bin/script", {"-qec", command, "/dev/null"}, work.path());
  INFO(result.out);
  CHECK(result.code == 0);
  CHECK(result.out.find("\r\033[K100 % [==============================] 30/30, 0:00 left") != std::string::npos);
  CHECK(result.out.find("left\r\033[K      29") != std::string::npos);  // the bar makes room for a line
}

#endif

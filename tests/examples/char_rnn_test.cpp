// The recurrent example as a user runs it, on a small text.
#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

#if defined(XTAPE_CHAR_RNN) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

Finished train_rnn(const TemporaryDirectory& work, std::vector<std::string> options) {
  const std::vector<std::string> small = {
      "--text", work.path() + "/text", "--context", "16", "--batch", "8", "--hidden", "24", "--threads", "1"};
  options.insert(options.begin(), small.begin(), small.end());
  return run(XTAPE_CHAR_RNN, options, work.path());
}

/// The lines of metrics.jsonl without what depends on the clock.
std::vector<json> metrics(const std::string& directory) {
  std::vector<json> out;
  for (const std::string& line : lines_of(content_of(directory + "/metrics.jsonl"))) {
    out.push_back(json::parse(line));
    out.back().erase("wall");
  }
  return out;
}

}  // namespace

TEST_CASE("the recurrent example learns with every cell and writes, the same for the same seed") {
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  for (const std::string cell : {"rnn", "gru", "lstm"}) {
    INFO(cell);
    std::vector<std::string> outputs;
    // 75 windows in a stream: the run starts the text anew.
    for (const char* threads : {"1", "2"}) {
      const Finished result =
          train_rnn(work, {"--cell", cell, "--steps", "120", "--log-interval", "60", "--sample", "50", "--dropout",
                           "0.1", "--layers", "2", "--out", cell + threads, "--threads", threads});
      INFO(result.err);
      CHECK(result.code == 0);
      CHECK(result.err == "");
      outputs.push_back(result.out.substr(result.out.find("A sample:\n")));
      CHECK(outputs.back().size() == std::string("A sample:\n").size() + 50 + 1);
    }
    CHECK(outputs[0] == outputs[1]);
    const std::vector<json> first = metrics(work.path() + "/" + cell + "1");
    REQUIRE(first.size() == 3);  // steps 0, 60 and 119
    CHECK(first == metrics(work.path() + "/" + cell + "2"));
    CHECK(first.back()["validation_loss"] < 0.6 * first.front()["validation_loss"].get<double>());
  }
}

TEST_CASE("bad input to the recurrent example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  work.write("text", some_text(400));
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--text", "none"}, "no such file"},
      {{"--cell", "elman"}, "--cell: expected one of rnn, gru, lstm, got 'elman'"},
      {{"--hidden", "0"}, "--hidden: expected a whole number from 1 to 4096, got '0'"},
      {{"--batch", "4000"}, "the context of 16 for each of 4000 streams, got"},
      {{"--out", "text"}, "it is not a directory"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = train_rnn(work, options);
    INFO(options.front(), " ", options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

#endif

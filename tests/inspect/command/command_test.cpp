// The command xtape as a user runs it.
#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <xtape/inspect/report/text_page.hpp>
#include <xtape/inspect/run/lock_file.hpp>

#include <nlohmann/json.hpp>
#include <thread>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

Finished xtape_command(const std::vector<std::string>& arguments) { return run(XTAPE_COMMAND, arguments); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("xtape inspect prints a page of at most 80 columns, and exits with 0 or 3") {
  const TemporaryDirectory work;
  const std::string healthy = MadeRun{}.write(work, "a name that is rather long so that lines have to be broken");
  const Finished page = xtape_command({"inspect", healthy});
  CHECK(page.code == 0);
  CHECK(page.err == "");
  for (const std::string& line : lines_of(page.out)) {
    const bool a_path = has(line, work.path());  // a word that is longer than the line stays whole
    CHECK_MESSAGE((a_path || text_width(line) <= 80), line);
  }
  CHECK(has(page.out, "✓ The gradient reaches back in time"));
  CHECK(has(page.out, "layers.1"));
  CHECK(!has(page.out, "\033"));

  const auto ends = [](StepRecord& r, double part) {
    if (part > 0.9) r.loss = NAN;
  };
  const std::string broken = MadeRun{.change = ends}.write(work, "broken");
  const Finished diverged = xtape_command({"inspect", broken});
  CHECK(diverged.code == 3);
  CHECK(has(diverged.out, "✗ The first number that is not finite comes at step"));
}

TEST_CASE("xtape inspect names the planned steps, unless the run was resumed with fewer") {
  const TemporaryDirectory work;
  CHECK(has(xtape_command({"inspect", MadeRun{}.write(work, "all")}).out, ", 991 of 1000 steps in "));
  const auto later = [](StepRecord& r, double) { r.step += 500; };
  CHECK(has(xtape_command({"inspect", MadeRun{.change = later}.write(work, "more")}).out, ", 1491 steps in "));
}

TEST_CASE("xtape inspect --json is one JSON object with every verdict") {
  const TemporaryDirectory work;
  const Finished result = xtape_command({"inspect", MadeRun{.decay = 0.5}.write(work, "run"), "--json"});
  CHECK(result.code == 0);
  const json page = json::parse(result.out);
  CHECK(page["format_version"] == 1);
  CHECK(page["finished"] == true);
  CHECK(page["diverged"] == false);
  CHECK(page["logged_steps"] == 100);
  CHECK(page["last_step"] == 990);
  CHECK(page["verdicts"][0]["id"] == "vanishing_time");
  CHECK(page["verdicts"][0]["finding"] == "bad");
  CHECK(page["verdicts"][0]["layer"] == "rnn_l0");
  CHECK(page["verdicts"].size() == 15);
  CHECK(page["layers"].size() == 3);
}

TEST_CASE("a bad path or option gives one line and exit code 2; damage gives a warning") {
  const TemporaryDirectory work;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"inspect", work.path() + "/none"},
                                             {"inspect"},
                                             {},
                                             {"inspect", "a", "b"},
                                             {"look", "."},
                                             {"inspect", ".", "--jsn"}}) {
    const Finished result = xtape_command(arguments);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
    CHECK(result.err.starts_with("error: "));
  }
  CHECK(xtape_command({"--help"}).code == 0);
  CHECK(has(xtape_command({"inspect", "--help"}).out, "--follow"));
  const std::string directory = MadeRun{.steps = 9, .finished = false}.write(work, "run");
  const std::string text = content_of(directory + "/metrics.jsonl");
  work.write("run/metrics.jsonl", text.substr(0, text.size() - 40));
  const Finished cut = xtape_command({"inspect", directory});
  CHECK(cut.code == 0);
  CHECK(has(cut.err, "warning: metrics.jsonl ends in the middle of a line"));
  CHECK(has(cut.out, "not finished"));
  CHECK(has(cut.out, "71 of 90 steps"));
}

TEST_CASE("xtape inspect --follow prints anew for each logged step until the run is finished") {
  const TemporaryDirectory work;
  const MadeRun made = {.steps = 6};
  const std::string directory = made.write(work, "run");
  const std::string metrics = content_of(directory + "/metrics.jsonl"),
                    events = content_of(directory + "/events.jsonl");
  const std::size_t half = metrics.find('\n', metrics.size() / 2) + 1;
  work.write("run/metrics.jsonl", metrics.substr(0, half));
  work.write("run/events.jsonl", "");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    work.write("run/metrics.jsonl", metrics);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    work.write("run/events.jsonl", events);
  });
  const Finished result = xtape_command({"inspect", directory, "--follow"});
  writer.join();
  CHECK(result.code == 0);
  std::size_t pages = 0;
  for (const std::string& line : lines_of(result.out)) pages += has(line, "made in ");
  CHECK(pages == 3);
  CHECK(has(result.out, "finished, 51 of 60"));
  CHECK(result.out.ends_with("\nThe run has ended: finished.\n"));
}

TEST_CASE("xtape inspect --follow ends with a line that says how a dead run ended") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 6, .finished = false}.write(work, "run");
  ProcessIdentity other = this_process();
  ++other.started;
  work.write("run/.lock", lock_text({other, 0}));
  const std::string number = std::to_string(other.process);
  Finished result = xtape_command({"inspect", directory, "--follow"});
  CHECK(result.out.ends_with("\nThe run has ended: out of date: process " + number + " is another program now.\n"));
  CHECK(has(result.out, "made in "));
  const json page = json::parse(xtape_command({"inspect", directory, "--json"}).out);
  CHECK(page["state"] == "out of date");
  CHECK(page["finished"] == false);
  REQUIRE(xtape_command({"report", directory}).code == 0);
  CHECK(has(content_of(directory + "/report.html"), "out of date: process " + number + " is another program now"));
}

TEST_CASE("a sparkline shows size by logarithm, zeros and what is not finite") {
  CHECK(sparkline(std::vector<double>{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7}, 8) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline(std::vector<double>{1, 1.01, 1}, 8) == "▁▁▁");
  CHECK(sparkline(std::vector<double>{0, NAN, 5, INFINITY}, 4) == "_!▁!");
  CHECK(sparkline(std::vector<double>{1, 1, 100, 1, 1, 1}, 3) == "▁█▁");  // the largest of each part
  CHECK(sparkline(std::vector<double>{}, 3) == "");
  CHECK(text_width("▁a✓") == 3);
}

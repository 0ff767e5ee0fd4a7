// xtape report and xtape compare as a user runs them, without a browser.
#include "report_runs.hpp"
#include "support.hpp"

#include <xtape/core/error.hpp>
#include <xtape/inspect/report/comparison.hpp>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Finished xtape_command(const std::vector<std::string>& arguments) { return run(XTAPE_COMMAND, arguments); }

/// What the scripts of a page draw.
json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

const json& part_of(const json& data, const std::string& id) {
  for (const json& section : data["sections"])
    for (const json& part : section["parts"])
      if (part.value("id", part.value("kind", "")) == id) return part;
  FAIL("the page has no ", id);
  return data;
}

}  // namespace

TEST_CASE("xtape report writes one page that names its file, loads nothing, and has the verdicts of xtape inspect") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.decay = 0.5}.write(work, "run");
  const Finished done = xtape_command({"report", directory});
  CHECK(done.code == 0);
  CHECK(done.err == "");
  CHECK(done.out == directory + "/report.html\n");
  const std::string page = content_of(directory + "/report.html");
  CHECK(has(page, "default-src 'none'"));
  CHECK(!has(page, "<link"));
  CHECK(!has(page, "<script src"));
  CHECK(has(page, "Chart.js v3.9.1"));
  CHECK(has(page, "Released under the MIT License"));
  const json verdicts = json::parse(xtape_command({"inspect", directory, "--json"}).out)["verdicts"];
  CHECK(has(page, "<h1>" + verdicts[0]["answer"].get<std::string>() + "</h1>"));
  std::size_t rows = 0;
  for (const json& v : verdicts) rows += has(page, "<b>" + v["answer"].get<std::string>() + "</b>") ? 1 : 0;
  CHECK(rows + 1 >=
        verdicts.size() - static_cast<std::size_t>(std::count_if(verdicts.begin(), verdicts.end(), [](const json& v) {
          return v["finding"] == "unmeasured";
        })));
  const json data = data_of(page);
  CHECK(part_of(data, "lags")["maps"][0]["name"] == "rnn_l0");
  CHECK(part_of(data, "layers")["maps"].size() == 2);
  CHECK(part_of(data, "loss")["data"]["buckets"] == 100);
  CHECK(part_of(data, "dead")["names"][0] == "layers.0.relu");
  CHECK(part_of(data, "forget")["names"][0] == "rnn_l0.forget");
}

TEST_CASE("the page of 10,000 steps and 20 layers is below 2 MB, and no spike of it is lost") {
  const TemporaryDirectory work;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i)
    for (const char* part : {".linear1.weight", ".linear2.weight"})
      names.push_back("layers." + std::to_string(i) + part);
  const auto layers = with_layers(20);
  const auto change = [&](StepRecord& r, double part) {
    layers(r, part);
    if (r.step == 7770) r.loss = r.interval.loss_max = 1234;
  };
  const std::string directory = write_run(work, "run", {.steps = 1000, .change = change}, {}, 1, "made", names);
  REQUIRE(xtape_command({"report", directory, "--out", work.path() + "/page.html"}).code == 0);
  CHECK(std::filesystem::file_size(work.path() + "/page.html") < 2'000'000);
  const json loss = part_of(data_of(content_of(work.path() + "/page.html")), "loss")["data"];
  CHECK(loss["buckets"] == 200);
  CHECK(loss["high"] != loss["middle"]);
}

TEST_CASE("a bad path or option of report and compare gives one line and exit code 2") {
  const TemporaryDirectory work;
  const std::string run = MadeRun{.steps = 5}.write(work, "run");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"report", work.path() + "/none"},
                                             {"report"},
                                             {"report", run, "--out", work.path() + "/no/such/page.html"},
                                             {"compare"},
                                             {"compare", run, work.path() + "/none"},
                                             {"compare", run, "--out", work.path()}}) {
    const Finished result = xtape_command(arguments);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
    CHECK(result.err.starts_with("error: "));
  }
}

TEST_CASE("runs that differ in the seed alone are one group; what says nothing about learning tells none apart") {
  const TemporaryDirectory work;
  std::vector<std::string> directories;
  for (const char* cell : {"rnn", "lstm"})
    for (unsigned seed : {1u, 2u, 3u})
      directories.push_back(write_run(work, cell + std::to_string(seed), {.steps = 30, .seed = seed},
                                      {{"cell", std::string(cell)},
                                       {"clip", 1.0},
                                       {"out", cell + std::to_string(seed)},
                                       {"log-interval", static_cast<index_t>(seed)}},
                                      seed));
  const Comparison c = compare_runs(directories);
  CHECK(c.settings == std::vector<std::string>{"cell"});
  REQUIRE(c.groups.size() == 2);
  CHECK(c.groups[0].label == "rnn");
  CHECK(c.groups[1].label == "lstm");
  CHECK(c.groups[0].runs.size() == 3);
  std::vector<double> losses;
  for (int i = 0; i < 3; ++i) losses.push_back(*late_loss(c.runs[i].run));
  const std::optional<Spread> spread = spread_of(c.groups[0], late_loss);
  std::sort(losses.begin(), losses.end());
  REQUIRE(spread);
  CHECK(spread->low == losses[0]);
  CHECK(spread->median == losses[1]);
  CHECK(spread->high == losses[2]);
  CHECK(verdict_of(c.groups[0]).text == "Healthy");
  CHECK(compare_runs({directories[0], directories[0]}).groups.size() == 2);  // the same seed twice
  CHECK(compare_runs({directories[0]}).groups[0].label == "rnn1");
  CHECK_THROWS_AS(compare_runs({}), ValueError);

  std::vector<std::string> command = {"compare", "--out", work.path() + "/compare.html"};
  command.insert(command.end(), directories.begin(), directories.end());
  const Finished done = xtape_command(command);
  CHECK(done.code == 0);
  REQUIRE(lines_of(done.out).size() == 8);
  CHECK(lines_of(done.out)[1].starts_with("rnn   3"));
  CHECK(lines_of(done.out)[4] == "rnn is first, but not for sure.");
  CHECK(has(lines_of(done.out)[5], ", the next. The difference is within the spread of the seeds (rnn: "));
  CHECK(lines_of(done.out)[7] == work.path() + "/compare.html");
  const json data = data_of(content_of(work.path() + "/compare.html"));
  CHECK(data["groups"] == json{"rnn", "lstm"});
  CHECK(!last_validation(c.runs[0].run));
  for (const json& part : data["sections"][0]["parts"]) CHECK(part["id"] != "validation");  // it would be empty
  CHECK(part_of(data, "loss")["names"].size() == 2);
  CHECK(part_of(data, "lag")["places"].size() == 64);
  CHECK(part_of(data, "depth")["labels"] == json{"layers.0", "layers.1", "layers.2"});
}

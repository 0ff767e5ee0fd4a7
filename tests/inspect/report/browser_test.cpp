// The pages as a browser shows them: headless Chromium, driven by browser.py; checks.js says what is looked at.
#include "report_runs.hpp"
#include "support.hpp"

#include <xtape/data/npy.hpp>
#include <xtape/inspect/run/attention_maps.hpp>

#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

/// Writes pages and what to check in them.
class Pages {
 public:
  const TemporaryDirectory work = {};

  void add(const std::string& name, const std::string& directory, json checks = json::object()) {
    write({"report", directory, "--out", work.path() + "/" + name + ".html"}, name, std::move(checks));
  }
  void write(const std::vector<std::string>& command, const std::string& name, json checks) {
    const Finished done = run(XTAPE_COMMAND, command);
    REQUIRE_MESSAGE(done.code == 0, done.err);
    expected_.push_back({{"page", name + ".html"}, {"checks", std::move(checks)}});
  }
  Finished look() const {
    work.write("expected.json", expected_.dump());
    return run(XTAPE_PYTHON, {XTAPE_SOURCE_DIR "/tests/inspect/report/browser.py", XTAPE_CHROMIUM, work.path()});
  }

 private:
  json expected_ = json::array();
};

/// What a pointer over the page reads is what the log says.
void add_healthy(Pages& pages) {
  const MadeRun made;
  const StepRecord step = made.records()[50];
  pages.add("healthy", made.write(pages.work, "healthy"),
            {{"hover",
              {{"layers", 500, 1.5, "norm ", step.parameters[1].grad_norm, 6e-3},
               {"lags", 500, 10.5, "norm ", step.times[0].by_lag[0].norms[10], 6e-3},
               {"loss", 500, nullptr, "train: ", step.loss, 1e-3},
               {"norm", 500, nullptr, "global norm: ", step.grad_norm, 1e-3}}},
             {"step", 300},
             {"texts", {{"h1", "Nothing is wrong"}, {".settings", "precision"}}}});
}

void add_troubled(Pages& pages) {
  const auto spikes = [](StepRecord& r, double) {
    if (r.step == 500) r.grad_norm = r.interval.grad_norm_max = 30;
  };
  pages.add("spike",
            MadeRun{.change = spikes, .events = {{703, "spike", "a spike", "", "", "", 9}}}.write(pages.work, "spike"),
            {{"tells", {{"norm", 500, nullptr, "spike at step 500"}, {"norm", 710, nullptr, "spike at step 703"}}},
             {"colors", {{"norm", 500, {0xb8, 0x48, 0x0a}, {0, 14}}, {"layers", 703, {0xb8, 0x48, 0x0a}, {0, 14}}}},
             {"texts", {{"h1", "2 spikes"}}}});
  const auto breaks = [](StepRecord& r, double part) {
    if (part > 0.9) r.loss = r.grad_norm = r.parameters[1].grad_norm = NAN;
  };
  pages.add("broken", MadeRun{.change = breaks}.write(pages.work, "broken"),
            {{"tells", {{"layers", 950, 1.5, "not finite"}, {"loss", 950, nullptr, "not finite"}}},
             {"colors", {{"layers", 950, {0xd0, 0x02, 0x1b}, nullptr}, {"loss", 950, {0xd0, 0x02, 0x1b}, nullptr}}},
             {"texts", {{"h1", "step 900, seen in layers.1.weight"}}}});
}

/// Names that would be tags, ends of scripts, or attributes.
void add_hostile(Pages& pages) {
  const std::string script = "</script><script>hacked=1</script>", image = "<img src=x onerror=hacked=1>\"'&{{data}}";
  const auto renames = [&](StepRecord& r, double) {
    r.parameters[0].name = script;
    r.layers[0].name = image;
    r.units[0].name = image + ".relu";
    r.times[0].name = script;
  };
  const MadeRun made = {.change = renames, .events = {{0, "spike", script, script, image, image, 1}}};
  pages.add("hostile",
            write_run(pages.work, image, made, {{script, image}, {"text", script}}, 1, script,
                      {script, "layers.1.weight", "layers.2.weight"}),
            {{"texts", {{".facts b", image}, {".settings", script}, {".evidence", script}}},
             {"counts", {{"img", 0}, {"script", 3}}}});
}

void add_odd_sizes(Pages& pages) {
  pages.add("one_step", MadeRun{.steps = 1}.write(pages.work, "one_step"));
  std::vector<std::string> names;
  for (int i = 0; i < 75; ++i)
    for (const char* part : {".linear1.weight", ".linear2.weight"})
      names.push_back("layers." + std::to_string(i) + part);
  pages.add("layers_75",
            write_run(pages.work, "layers_75", {.steps = 30, .change = with_layers(75)}, {}, 1, "made", names),
            {{"tells", {{"layers", 100, 0.5, "layers.74.linear2"}}}});
  pages.add("lags_512", MadeRun{.steps = 20, .window = 512}.write(pages.work, "lags_512"),
            {{"tells", {{"lags", 100, 1.5, "lags 4–7"}}}});
  const std::string norms = MadeRun{.steps = 40}.write(pages.work, "only_norms");
  REQUIRE(remove((norms + "/metrics.jsonl").c_str()) == 0);
  pages.add("only_norms", norms, {{"texts", {{".quiet", "metrics.jsonl is missing"}}}});
  pages.work.write("empty/run.json", "{}");
  pages.add("empty", pages.work.path() + "/empty",
            {{"texts", {{"h1", "Nothing is logged yet"}}}, {"counts", {{"canvas", 0}}}});
}

void add_attention(Pages& pages) {
  const std::string directory = MadeRun{}.write(pages.work, "attention");
  std::vector<float> uniform, sharp;
  for (int head = 0; head < 2 * 3; ++head)
    for (int q = 0; q < 5; ++q)
      for (int k = 0; k < 5; ++k) {
        uniform.push_back(k <= q ? 1.0f / static_cast<float>(q + 1) : 0);
        sharp.push_back(k == q);
      }
  for (index_t step : {0, 990})
    save_attention(
        directory, step, {"<b>", "a", "\n", " ", "é"},
        {"weights", DType::f32, {2, 3, 5, 5}, bytes_of((step == 0 ? uniform : sharp).data(), uniform.size())});
  pages.add(
      "attention", directory,
      {{"counts", {{".grid button", 6}, {".heads b", 0}}},
       {"texts", {{".grid button", "0.00"}, {".sentence", "<b>a⏎ é"}, {"#attention-maps .choice", "untrained"}}}});
}

void add_comparison(Pages& pages) {
  std::vector<std::string> command = {"compare"};
  for (double lr : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7})
    for (unsigned seed : {1u, 2u, 3u})
      command.push_back(write_run(pages.work, "c" + std::to_string(command.size()),
                                  {.steps = 30, .decay = 1 - lr / 2, .seed = seed}, {{"lr", lr}}, seed));
  command.insert(command.end(), {"--out", pages.work.path() + "/compare.html"});
  pages.write(
      command, "compare",
      {{"counts", {{"tbody [data-group]", 7}, {"[data-group]:checked", 6}, {"[data-group]:disabled", 1}}},
       {"texts", {{"h1", "lr 0."}, {"#differences ~ .sideways", "0.7"}, {".runs td", "Vanishing in time (3 of 3)"}}}});
}

}  // namespace

TEST_CASE("browser: pages show what the logs say, whatever the run" * doctest::skip()) {
  if (XTAPE_CHROMIUM[0] == 0) {
    MESSAGE("skipped: there is no chromium; install it and configure again");
    return;
  }
  Pages pages;
  add_healthy(pages);
  add_troubled(pages);
  add_hostile(pages);
  add_odd_sizes(pages);
  add_attention(pages);
  add_comparison(pages);
  const Finished looked = pages.look();
  INFO(looked.out, looked.err);
  CHECK(looked.code == 0);
}

// What the library writes and reads in a program that set a locale with a decimal comma.
#include <xtape/data/csv.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/log/console.hpp>
#include <xtape/inspect/log/layer_table.hpp>
#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/line_plot.hpp>
#include <xtape/inspect/report/report_page.hpp>
#include <xtape/inspect/report/text_page.hpp>
#include <xtape/models/attention_text.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/train/checkpoint_record.hpp>
#include <xtape/train/trained_weights.hpp>

#include "comma_locale.hpp"
#include "inspect/report/report_runs.hpp"
#include "support.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Messages that name a number.
std::vector<std::string> messages() {
  const Tensor x = Tensor::ones({2, 2});
  ParamStore store;
  const Linear a(store.root() / "a", 2, 2);
  AdamW adam(all_parameters(store)), other(all_parameters(store), {.beta2 = 0.75});
  return {message_of([&] { dropout(x, 1.5, {}); }),
          message_of([&] { clamp(x, real(1.5), real(0.5)); }),
          message_of([&] { softplus(x, real(-1.5)); }),
          message_of([&] { huber_loss(x, x, {.delta = -1.5}); }),
          message_of([&] { clip_grad_norm(store, -1.5); }),
          message_of([&] { AdamW(all_parameters(store), {.eps = -1.5}); }),
          message_of([&] { adam.step(-1.5); }),
          message_of([&] { adam.check(other.state()); }),
          message_of([&] { cosine(0, {.total = 10, .peak = -1.5}); }),
          message_of([&] { BatchNorm(store.root() / "b", 2, {.momentum = 1.5}); }),
          message_of([&] { store.root().parameter("c", {1}, init::uniform(1.5, 0.5)); })};
}

/// Everything with a number that goes to a file, a page or the console, and what is read back.
std::vector<std::string> texts(const std::string& directory) {
  std::vector<std::string> out = messages();
  const RunData run = read_run(directory);
  const std::vector<Verdict> verdicts = judge(run);
  for (const StepRecord& step : {run.steps.front(), run.steps.back()}) {
    out.push_back(metrics_line(step));
    out.push_back(grad_norms_rows(step));
  }
  for (const std::string& page : {run_page(run, verdicts), run_page_json(run, verdicts), report_page(run, verdicts),
                                  compare_page(compare_runs({directory}))})
    out.push_back(page);
  out.push_back(line_plot({{{1234.5, 0.25, 2.5}, "black"}}, "caption"));
  LayerTable table({"a", "b"}, {1000, 2000});
  table.add({1.5, 1234.5});
  out.push_back(table.text());
  out.push_back(progress_text(1234567, 2000000, 1.5, 100));
  out.push_back(format_evaluation(1.25, empty_array<IndexArray>({12346})));
  out.push_back(attention_text(array({1, 2}, {0.25, 0.75}), {"a"}, "xy"));
  out.push_back(log_state_text(log_state(log_state_text({.watched = {{1.5, 1234.5}, {0.25}, {-1.5}}}))));
  out.push_back(checkpoint_json({.step = 12345, .optimizer_options = {{"eps", 1e-8}}, .best_loss = 1.5}));
  ParamStore store;
  const Linear a(store.root() / "a", 2, 2);
  out.push_back(describe(decay_groups(store, 0.125)));
  Args args("program", "About.");
  const auto lr = args.number("lr", 0.25, {0, 1.5}, "rate");
  const char* argv[] = {"program", "--lr=0.125", "--steps=12345"};
  out.push_back(args.help());
  args.parse(3, argv);
  out.push_back(number_text(*lr));
  const std::string info = run_json({.description = args});
  out.push_back(info.substr(info.find("\"options\"")));  // without the time
  out.push_back(number_text(CsvTable("x\n1.5\n", "table").number(0, 0)));
  out.push_back(number_text(parse_json<json>("[1.5, 1e-3]")[0].get<double>()));
  std::vector<StepRecord> steps;
  add_norms_row(steps, "7,total_preclip,all,,1.5");
  out.push_back(number_text(steps.at(0).grad_norm));
  return out;
}

}  // namespace

TEST_CASE("a locale with a decimal comma changes nothing that is written or read") {
  const TemporaryDirectory work;
  const std::string directory = write_run(work, "run", {}, {{"clip", 1.5}, {"lr", 0.25}});
  const std::vector<std::string> want = texts(directory);
  const CommaLocale comma;
  if (!comma.made()) {
    MESSAGE("skipped: no locale with a decimal comma can be made; install locales");
    return;
  }
  char sample[8];
  std::snprintf(sample, sizeof sample, "%.1f", 1.5);
  CHECK(std::string(sample) == "1,5");
  std::ostringstream stream;
  stream << 12345;
  CHECK(stream.str() == "12.345");
  const std::vector<std::string> got = texts(directory);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == want[i]);
  CHECK(grad_norms_row(0, "total_preclip", "all", 31.622776601683793, -1) == "0,total_preclip,all,,31.6227766\n");
}

// Files of a run folder: lines of metrics and events, rows of norms, run.json, the state of a log.
#include "fuzz.hpp"

#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/report/text_page.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/run_json.hpp>

namespace xtape::fuzz {

// A number in a line becomes a record of numbers.
std::size_t largest_allocation(std::string_view input) { return (64 << 10) + 64 * input.size(); }

namespace {

/// Shows a run as `xtape inspect` does.
void show(RunData run) {
  const std::vector<Verdict> verdicts = judge(run);
  if (run_page(run, verdicts).empty() || run_page_json(run, verdicts).empty()) fault("a page is empty");
}

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    take(line);
  }
}

void try_lines(std::string_view text) {
  RunData run;
  for_each_line(text, [&](std::string_view line) {
    step_of_json_line(line);
    if (const auto step = read_metrics_line(line)) {
      const auto again = read_metrics_line(metrics_line(*step));
      if (!again || again->step != step->step) fault("a written line is read back differently");
      if (run.steps.empty() || run.steps.back().step < step->step) run.steps.push_back(*step);
    }
    if (const auto event = read_event_line(line)) run.events.push_back(*event);
  });
  show(std::move(run));
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string text(input.substr(1));
  switch (input.front() & 3) {
    case 0:
      return try_lines(text);
    case 1: {
      RunData run;
      run.only_norms = true;
      for_each_line(text, [&](std::string_view row) { add_norms_row(run.steps, row); });
      return show(std::move(run));
    }
    case 2:
      resumed_run_json(text, {});
      return;
    default:
      log_state(text);
  }
}

}  // namespace xtape::fuzz

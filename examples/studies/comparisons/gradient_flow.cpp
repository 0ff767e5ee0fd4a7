// How does gradient flow differ between architectures? RNN, GRU, LSTM and a small transformer on tasks with long lags
// and on text; then clipping, initial values and layer normalization, one changed at a time. docs/comparisons.md has
// the design and the results.
#include "architecture_run.hpp"
#include "studies/common/seed_comparison.hpp"

#include <xtape/core/number_text.hpp>

using namespace xtape;
using namespace xtape::examples;

namespace {

using Row = std::vector<std::string>;

const std::vector<std::string> kLagTasks = {"adding", "copy", "recall"};
constexpr const char* kBaseTask = "adding";  // the task of the runs with one change
constexpr std::size_t kShownLags[] = {1, 5, 10, 20, 40, 80};

/// The suffix of a setting's name and the option that it changes; the first is the base.
const std::vector<std::pair<std::string, std::string>> kChanges = {
    {"", ""},
    {"-unclipped", "--clip=0"},
    {"-xavier", "--init=xavier"},
    {"-he", "--init=he"},
    {"-orthogonal", "--init=orthogonal"},
    {"-large", "--init=large"},
    {"-layer-norm", "--layer-norm"},
};

bool has_change(const std::string& model, const std::string& suffix) {
  return suffix != "-layer-norm" || model != "transformer";  // a transformer always has norms
}

std::vector<Setting> settings(const std::string& text, index_t length) {
  std::vector<Setting> out;
  const auto add = [&](const std::string& task, const std::string& model, const std::string& suffix,
                       const std::string& change) {
    out.push_back({task + "-" + model + suffix,
                   {"--task=" + task, "--model=" + model, "--length=" + std::to_string(task == "text" ? 64 : length),
                    "--text=" + text}});
    if (!change.empty()) out.back().arguments.push_back(change);
  };
  for (const std::string& model : architecture_names()) {
    for (const std::string& task : kLagTasks) add(task, model, "", "");
    add("text", model, "", "");
    for (const auto& [suffix, change] : kChanges)
      if (!suffix.empty() && has_change(model, suffix)) add(kBaseTask, model, suffix, change);
  }
  return out;
}

void show_accuracies(Comparison& comparison, const std::string& task, index_t length) {
  std::vector<Row> rows = {{"model", "loss", "right"}};
  for (index_t part = 0; part < kLagParts; ++part)
    rows.front().push_back("lag .." + std::to_string((length - 1) * (part + 1) / kLagParts));
  for (const std::string& model : architecture_names()) {
    const std::string name = task + "-" + model;
    Row row = {model, spread_text(comparison.of(name, "validation_loss"), "%.4f"),
               spread_text(comparison.of(name, "accuracy"))};
    for (std::size_t part = 0; part < kLagParts; ++part)
      row.push_back(spread_text(comparison.of(name, "accuracy_by_lag", part), "%.2f"));
    rows.push_back(row);
  }
  const double nothing = comparison.of(task + "-rnn", "know_nothing").median;
  comparison.show(
      table_text(task + ": loss (" + number_text(nothing, "%.3f") +
                     " knowing nothing) and share of right answers, by lag; median [least, largest] over seeds",
                 rows));
}

void show_text(Comparison& comparison) {
  std::vector<Row> rows = {{"model", "loss", "right", "clipped", "largest norm"}};
  for (const std::string& model : architecture_names()) {
    const std::string name = "text-" + model;
    rows.push_back({model, spread_text(comparison.of(name, "validation_loss")),
                    spread_text(comparison.of(name, "accuracy")), spread_text(comparison.of(name, "clipped"), "%.2f"),
                    spread_text(comparison.of(name, "largest_norm"), "%.3g")});
  }
  comparison.show(
      table_text("text: validation loss in nats, next symbols right; steps above the clipping limit 1", rows));
}

/// A result at each shown lag, divided by the result at lag 0.
Row shares_by_lag(const Comparison& comparison, const std::string& setting, const std::string& result) {
  const double at_zero = comparison.of(setting, result).median;
  Row out;
  for (std::size_t lag : kShownLags)
    out.push_back(number_text(comparison.of(setting, result, lag).median / at_zero, "%.1e"));
  return out;
}

/// How far the gradient of the last step's loss goes back, before and after training.
void show_gradients(Comparison& comparison, const std::string& task) {
  Row header = {"model"};
  for (std::size_t lag : kShownLags) header.push_back("lag " + std::to_string(lag));
  std::vector<Row> rows = {header};
  const auto add = [&rows](const std::string& name, const Row& shares) {
    rows.push_back({name});
    rows.back().insert(rows.back().end(), shares.begin(), shares.end());
  };
  for (const std::string when : {"first", "last"}) {
    const std::string trained = when == "first" ? ", untrained" : ", trained";
    for (const std::string& model : architecture_names())
      add(model + trained, shares_by_lag(comparison, task + "-" + model, "input_gradient_" + when));
    add("rnn, of h_t" + trained, shares_by_lag(comparison, task + "-rnn", "hidden_gradient_" + when));
    const double norm = comparison.of(task + "-rnn", "spectral_norm_" + when).median;
    add("its bound |W|^lag, |W| = " + number_text(norm, "%.2f"),
        shares_by_lag(comparison, task + "-rnn", "hidden_bound_" + when));
  }
  comparison.show(table_text(task +
                                 ": norm of the last step's gradient at the input a lag before, as a share of lag 0; "
                                 "medians over seeds",
                             rows));
}

void show_changes(Comparison& comparison) {
  std::vector<Row> rows = {
      {"setting", "loss", "right", "longest lags", "clipped", "largest norm", "lag 40, untrained"}};
  for (const std::string& model : architecture_names())
    for (const auto& [suffix, change] : kChanges) {
      if (!has_change(model, suffix)) continue;
      const std::string name = std::string(kBaseTask) + "-" + model + suffix;
      rows.push_back({model + suffix, spread_text(comparison.of(name, "validation_loss"), "%.4f"),
                      spread_text(comparison.of(name, "accuracy"), "%.2f"),
                      spread_text(comparison.of(name, "accuracy_by_lag", kLagParts - 1), "%.2f"),
                      spread_text(comparison.of(name, "clipped"), "%.2f"),
                      spread_text(comparison.of(name, "largest_norm"), "%.3g"),
                      shares_by_lag(comparison, name, "input_gradient_first")[4]});
    }
  comparison.show(table_text(std::string(kBaseTask) +
                                 ", one thing changed: share of steps above the clipping limit 1 (scaled unless "
                                 "unclipped), largest gradient norm, gradient at lag 40 as a share of lag 0",
                             rows));
}

/// A page for each task, and one for the changes to each model.
void write_pages(const Comparison& comparison) {
  std::vector<std::string> tasks = kLagTasks;
  tasks.push_back("text");
  for (const std::string& task : tasks) {
    std::vector<std::string> names;
    for (const std::string& model : architecture_names()) names.push_back(task + "-" + model);
    comparison.page("compare-" + task, names);
  }
  for (const std::string& model : architecture_names()) {
    std::vector<std::string> names;
    for (const auto& [suffix, change] : kChanges)
      if (has_change(model, suffix)) names.push_back(std::string(kBaseTask) + "-" + model + suffix);
    comparison.page("compare-changes-" + model, names);
  }
}

void compare(int argc, char** argv) {
  Args args("gradient_flow", "Compares how gradients flow in recurrent networks and a transformer, on long lags.",
            {.steps = 1200, .quick_steps = 30});
  const auto text = args.text("text", "kjv.txt", "text to learn; scripts/get_data.sh kjv gets the default");
  const auto length = args.integer("length", 100, {82, 4096}, "steps of the sequences with long lags");
  Comparison comparison(args);
  args.parse(argc, argv);

  find_data(text);  // fail before anything is written
  comparison.run(settings(text, length), train_sequence_network);
  for (const std::string& task : kLagTasks) show_accuracies(comparison, task, length);
  show_text(comparison);
  for (const std::string& task : kLagTasks) show_gradients(comparison, task);
  show_changes(comparison);
  write_pages(comparison);
  comparison.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(compare, argc, argv); }

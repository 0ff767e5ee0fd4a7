// How does weight decay behave? L2 in the gradient and decoupled decay, under SGD with momentum and under Adam, over
// strengths, on models that are too large for their small data sets. docs/comparisons.md has the design and the
// results.
#include "regularization_run.hpp"
#include "studies/common/seed_comparison.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/data/files.hpp>
#include <xtape/train/program.hpp>

#include <limits>
#include <map>

using namespace xtape;
using namespace xtape::examples;

namespace {

using Row = std::vector<std::string>;

/// Strengths of each scheme, chosen so that the middle ones shrink weights about equally.
const std::map<std::string, std::vector<std::string>> kStrengths = {
    {"sgd", {"0"}},
    {"sgd-l2", {"0.0001", "0.0003", "0.001", "0.003"}},
    {"sgdw", {"0.001", "0.003", "0.01", "0.03"}},
    {"adam", {"0"}},
    {"adam-l2", {"0.00003", "0.0001", "0.0003", "0.001"}},
    {"adamw", {"0.1", "0.3", "1", "3"}},
};

std::string setting_name(const std::string& task, const std::string& scheme, const std::string& strength) {
  return task + "-" + scheme + (strength == "0" ? "" : "-" + strength);
}

std::vector<Setting> settings_of(const std::string& task, const std::string& data) {
  std::vector<Setting> out;
  for (const std::string& scheme : scheme_names())
    for (const std::string& strength : kStrengths.at(scheme))
      out.push_back({setting_name(task, scheme, strength),
                     {"--task=" + task, "--data=" + data, "--scheme=" + scheme, "--strength=" + strength,
                      std::string("--lr=") + (scheme.starts_with("sgd") ? "0.2" : "0.002")}});
  return out;
}

/// The strength with the least median validation loss.
std::string best_strength(const Comparison& comparison, const std::string& task, const std::string& scheme) {
  std::string best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& strength : kStrengths.at(scheme)) {
    const Spread loss = comparison.of(setting_name(task, scheme, strength), "validation_loss");
    if (!best.empty() && !(loss.count > 0 && loss.median < least)) continue;
    if (loss.count > 0) least = loss.median;
    best = strength;
  }
  return best;
}

void show_losses(Comparison& comparison, const std::string& task) {
  std::vector<Row> rows = {{"scheme", "strength", "train", "validation", "best validation", "test"}};
  for (const std::string& scheme : scheme_names())
    for (const std::string& strength : kStrengths.at(scheme)) {
      const std::string name = setting_name(task, scheme, strength);
      Row row = {scheme, strength};
      for (const char* result : {"train_loss", "validation_loss", "best_validation_loss", "test_loss"})
        row.push_back(spread_text(comparison.of(name, result)));
      if (strength == best_strength(comparison, task, scheme)) row.push_back("*");
      rows.push_back(row);
    }
  comparison.show(table_text(task + ": losses in nats after the last step, median [least, largest] over seeds; * least "
                                    "validation loss of its scheme",
                             rows));
}

/// The effect of the best strength of each scheme on each matrix.
void show_layers(Comparison& comparison, const std::string& task) {
  std::vector<Row> norms = {{"matrix"}}, parts = {{"matrix"}};
  const std::vector<std::string> matrices = comparison.results_of(task + "-adam", "weight_norm/");
  for (const std::string& matrix : matrices) norms.push_back({matrix}), parts.push_back({matrix});
  for (const std::string& scheme : scheme_names()) {
    const std::string strength = best_strength(comparison, task, scheme), name = setting_name(task, scheme, strength);
    const std::string none = task + (scheme.starts_with("sgd") ? "-sgd" : "-adam");
    norms.front().push_back(scheme + (strength == "0" ? "" : " " + strength));
    if (strength != "0") parts.front().push_back(scheme + " " + strength);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      const Spread norm = comparison.of(name, "weight_norm/" + matrices[i]);
      const double whole = comparison.of(none, "weight_norm/" + matrices[i]).median;
      norms[i + 1].push_back(strength == "0" ? number_text(norm.median, "%.2f")
                                             : number_text(100 * norm.median / whole, "%.0f %%"));
      const double decay = comparison.of(name, "decay_part/" + matrices[i]).median;
      const double gradient = comparison.of(name, "gradient_part/" + matrices[i]).median;
      if (strength != "0") parts[i + 1].push_back(number_text(decay / gradient, "%.3f"));
    }
  }
  comparison.show(table_text(task + ": norm of each matrix after training; with decay, in % of that without", norms));
  comparison.show(table_text(task + ": decay part / gradient part of an update, norms, mean over the run", parts));
}

/// Effective decay of single weights, at the best strength.
void show_effective_decay(Comparison& comparison, const std::string& task) {
  Row header = {"weights by sqrt(v)"};
  std::vector<Row> rows;
  for (std::size_t bin = 0; bin < kRootBins; ++bin)
    header.push_back(bin == 0 ? "smallest 1/" + std::to_string(kRootBins) : bin + 1 == kRootBins ? "largest" : "");
  rows.push_back(header);
  for (const std::string scheme : {"adam-l2", "adamw"}) {
    const std::string strength = best_strength(comparison, task, scheme), name = setting_name(task, scheme, strength);
    Row v = {"sqrt(v), " + scheme + " " + strength}, rate = {"decay / lr, " + scheme + " " + strength};
    for (std::size_t bin = 0; bin < kRootBins; ++bin) {
      v.push_back(number_text(comparison.of(name, "root_v", bin).median, "%.2g"));
      rate.push_back(number_text(comparison.of(name, "decay_rate", bin).median, "%.3g"));
    }
    rows.insert(rows.end(), {v, rate});
  }
  comparison.show(
      table_text(task + ": fraction of a weight that decay takes away a step, per unit of learning rate", rows));
}

/// A page that compares the best run of each scheme.
void write_page(const Comparison& comparison, const std::string& task) {
  std::vector<std::string> names;
  for (const std::string& scheme : scheme_names())
    names.push_back(setting_name(task, scheme, best_strength(comparison, task, scheme)));
  comparison.page("compare-" + task, names);
}

void compare(int argc, char** argv) {
  Args args("regularization", "Compares weight decay in its forms, on models too large for their few data.",
            {.steps = 1500, .quick_steps = 20});
  const auto text = args.text("text", "kjv.txt", "text, of which a piece is learned; scripts/get_data.sh kjv gets it");
  const auto digits =
      args.text("digits", "digits.csv.gz", "8x8 digits in CSV; scripts/get_data.sh digits gets the default");
  Comparison comparison(args);
  args.parse(argc, argv);

  for (const std::string& file : {*text, *digits}) find_data(file);  // fail before anything is written
  const std::vector<std::string> tasks = {"transformer", "lstm", "digits"};
  std::vector<Setting> settings;
  for (const std::string& task : tasks)
    for (const Setting& setting : settings_of(task, task == "digits" ? *digits : *text)) settings.push_back(setting);
  comparison.run(settings, train_regularized);
  for (const std::string& task : tasks) {
    show_losses(comparison, task);
    show_layers(comparison, task);
    show_effective_decay(comparison, task);
    write_page(comparison, task);
  }
  comparison.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(compare, argc, argv); }

#include "seed_comparison.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/inspect/log/new_run_folder.hpp>
#include <xtape/inspect/report/compare_page.hpp>

#include <algorithm>
#include <iostream>
#include <limits>

namespace xtape::examples {

namespace {

/// Columns that a text takes: UTF-8 continuation bytes take none.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Comparison::Comparison(Args& args)
    : args_(args), seeds_(args.integer("seeds", 3, {1, 100}, "seeds for each setting, from --seed on")) {}

void Comparison::run(const std::vector<Setting>& settings,
                     const std::function<Results(const std::vector<std::string>&)>& train) {
  directory_ = args_.out().empty() ? make_run_folder("", args_.program()) : args_.out();
  std::cout << "The runs are in " << directory_ << "; --out " << directory_ << " goes on with them." << std::endl;
  std::vector<SweepRun> runs;
  for (const Setting& setting : settings)
    for (index_t i = 0; i < seeds_; ++i) {
      const std::string seed = std::to_string(args_.seed() + static_cast<std::uint64_t>(i));
      std::vector<std::string> arguments = {"--seed=" + seed, "--steps=" + std::to_string(args_.steps()), "--threads=1",
                                            "--on-trouble=" + args_.on_trouble()};
      if (args_.detect_anomaly()) arguments.push_back("--detect-anomaly");
      arguments.insert(arguments.end(), setting.arguments.begin(), setting.arguments.end());
      runs.push_back({setting.name + "-seed" + seed, arguments});
    }
  const auto body = [&train](const SweepRun& run, const std::string& directory) {
    std::vector<std::string> arguments = run.arguments;
    arguments.push_back("--out=" + directory);
    return train(arguments);
  };
  const std::vector<SweepOutcome> outcomes =
      sweep(runs, body, {.directory = directory_, .program = args_.program(), .processes = threads()});
  auto outcome = outcomes.begin();
  for (const Setting& setting : settings) {
    outcomes_[setting.name].assign(outcome, outcome + *seeds_);
    outcome += *seeds_;
  }
}

const std::vector<SweepOutcome>& Comparison::outcomes_of(const std::string& setting) const {
  const auto found = outcomes_.find(setting);
  if (found == outcomes_.end()) throw ValueError("comparison", "there is no setting " + setting);
  return found->second;
}

Spread Comparison::of(const std::string& setting, const std::string& result, std::size_t at) const {
  std::vector<double> values;
  for (const SweepOutcome& outcome : outcomes_of(setting)) {
    const auto found = outcome.results.find(result);
    const bool there = found != outcome.results.end() && at < found->second.size();
    values.push_back(there ? found->second[at] : std::numeric_limits<double>::quiet_NaN());
  }
  return spread_of(values);
}

std::vector<std::string> Comparison::results_of(const std::string& setting, const std::string& beginning) const {
  std::vector<std::string> out;
  for (const auto& [name, values] : outcomes_of(setting).front().results)
    if (name.starts_with(beginning)) out.push_back(name.substr(beginning.size()));
  return out;
}

void Comparison::page(const std::string& name, const std::vector<std::string>& settings) const {
  std::vector<std::string> runs;
  for (const std::string& setting : settings)
    for (const SweepOutcome& outcome : outcomes_of(setting))
      if (outcome.trouble.empty()) runs.push_back(outcome.directory);
  if (runs.empty()) return;
  const std::string path = directory_ + "/" + name + ".html";
  write_file(path, compare_page(compare_runs(runs)));
  std::cout << "\nThe curves beside each other are in " << path << std::endl;
}

void Comparison::show(const std::string& text) {
  std::cout << "\n" << text << std::flush;
  shown_ += (shown_.empty() ? "" : "\n") + text;
  write_file(directory_ + "/tables.txt", shown_);
}

void Comparison::finish() const {
  std::size_t failed = 0, all = 0;
  for (const auto& [setting, outcomes] : outcomes_)
    for (const SweepOutcome& outcome : outcomes) ++all, failed += !outcome.trouble.empty();
  std::cout << "\nThe tables are in " << directory_ << "/tables.txt" << std::endl;
  if (failed > 0)
    throw Error(args_.program(), std::to_string(failed) + " of " + std::to_string(all) +
                                     " runs failed; the same command with --out " + directory_ + " tries them again");
}

std::string spread_text(const Spread& spread, const char* format) {
  if (spread.count == 0) return "-";
  std::string out = number_text(spread.median, format);
  if (spread.count > 1) out += " [" + number_text(spread.low, format) + ", " + number_text(spread.high, format) + "]";
  if (spread.missing > 0)
    out += " (" + std::to_string(spread.count) + " of " + std::to_string(spread.count + spread.missing) + ")";
  return out;
}

std::string table_text(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out = title + "\n";
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + gap : "  " + gap + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace xtape::examples

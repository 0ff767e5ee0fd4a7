// A comparison: settings that differ from a base in one thing each, trained with several seeds, and its tables.
#pragma once

#include "sweep.hpp"

#include <xtape/train/args.hpp>

#include <functional>
#include <string>
#include <vector>

namespace xtape::examples {

/// A row of a comparison.
struct Setting {
  std::string name;                    ///< of its runs' directories, before "-seed0"
  std::vector<std::string> arguments;  ///< of its runs, without the seed
};

class Comparison {
 public:
  /// Declares --seeds. Construct it before the arguments are parsed.
  explicit Comparison(Args& args);

  /// Trains every setting with the seeds args.seed(), args.seed() + 1, ..., args.threads() runs at a time on one thread
  /// each, in the directory args.out(). `train` makes a run from arguments as on its command line. Finished runs of an
  /// earlier start are kept. The steps of a run are args.steps(), unless the setting has its own. Throws as sweep does.
  void run(const std::vector<Setting>& settings, const std::function<Results(const std::vector<std::string>&)>& train);

  /// Spread over a setting's seeds of element `at` of a result; a run that failed or lacks it counts as missing.
  Spread of(const std::string& setting, const std::string& result, std::size_t at = 0) const;
  /// The names of the results of a setting's first run that begin with `beginning`, without it.
  std::vector<std::string> results_of(const std::string& setting, const std::string& beginning) const;

  /// Prints a text and adds it to tables.txt in the directory.
  void show(const std::string& text);
  /// Writes NAME.html in the directory, the page of `xtape compare` for the runs of some settings. Writes nothing if
  /// all failed.
  void page(const std::string& name, const std::vector<std::string>& settings) const;
  /// Prints the path of tables.txt. Throws Error with the number of failed runs, if any.
  void finish() const;

 private:
  const std::vector<SweepOutcome>& outcomes_of(const std::string& setting) const;

  const Args& args_;
  Option<index_t> seeds_;
  std::string directory_, shown_;
  std::map<std::string, std::vector<SweepOutcome>> outcomes_;  // by setting
};

/// "0.95 [0.91, 0.97]": median, least and largest; "-" without any; "(2 of 3)" after it if some are missing.
std::string spread_text(const Spread& spread, const char* format = "%.3f");

/// Aligned columns under a title; the first is left-aligned, the others right-aligned.
std::string table_text(const std::string& title, const std::vector<std::vector<std::string>>& rows);

}  // namespace xtape::examples

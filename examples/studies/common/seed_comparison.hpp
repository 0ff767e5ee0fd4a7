// A comparison: settings that differ from a base in one thing each, trained with several seeds, and the tables of it.
#pragma once

#include <xtape/train/args.hpp>
#include "studies/common/sweep.hpp"

#include <functional>
#include <string>
#include <vector>

namespace xtape::examples {

/// A row of a comparison.
struct Setting {
  std::string name;                    ///< of its runs' directories, before "-seed0"
  std::vector<std::string> arguments;  ///< of its runs, but for the seed
};

class Comparison {
 public:
  /// Declares --seeds. To be made before the arguments are parsed.
  explicit Comparison(Args& args);

  /// Trains every setting with the seeds args.seed(), args.seed() + 1, ..., args.threads() runs at a time on one thread
  /// each, in the directory args.out(). `train` makes a run from arguments as on its command line. One that is there
  /// and finished is kept. The steps of a run are args.steps(), unless the setting has its own. Throws as sweep does.
  void run(const std::vector<Setting>& settings, const std::function<Results(const std::vector<std::string>&)>& train);

  /// Number `at` of the result over a setting's seeds; a run that failed or lacks it counts as missing.
  Spread of(const std::string& setting, const std::string& result, std::size_t at = 0) const;
  /// The results that a setting's first run has, of which the names begin so, without this beginning.
  std::vector<std::string> results_of(const std::string& setting, const std::string& beginning) const;

  /// Prints a text and adds it to tables.txt in the directory.
  void show(const std::string& text);
  /// Writes NAME.html in the directory: the page of `xtape compare` of the runs of some settings. Nothing if all
  /// failed.
  void page(const std::string& name, const std::vector<std::string>& settings) const;
  /// Names the tables' file. Throws Error if runs have failed, naming how many.
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

/// Rows in columns as wide as they need, the first to the left and the others to the right.
std::string table_text(const std::string& title, const std::vector<std::vector<std::string>>& rows);

}  // namespace xtape::examples

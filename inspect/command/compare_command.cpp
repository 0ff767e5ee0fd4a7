#include <xtape/data/durable_file.hpp>
#include <xtape/inspect/command/compare_command.hpp>
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/ranking.hpp>

#include <iostream>

namespace xtape {

int write_comparison(const CompareOptions& options) {
  const Comparison comparison = compare_runs(options.directories);
  write_file(options.out, compare_page(comparison));
  for (const ComparedRun& run : comparison.runs)
    for (const std::string& warning : run.run.warnings)
      std::cerr << "warning: " << run.run.directory << ": " << warning << "\n";
  const Headline ranking = ranking_headline(comparison);
  std::cout << compare_table(comparison) << "\n"
            << ranking.title << "\n"
            << ranking.lede << "\n\n"
            << options.out << std::endl;
  return 0;
}

}  // namespace xtape

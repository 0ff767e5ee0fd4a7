#include <xtape/data/files.hpp>
#include <xtape/inspect/command/report_command.hpp>
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/report_page.hpp>

#include <iostream>

namespace xtape {

int write_report(const ReportOptions& options) {
  const RunData run = read_run(options.directory);
  const std::string path = options.out.empty() ? options.directory + "/report.html" : options.out;
  write_file(path, report_page(run, judge(run)));
  for (const std::string& warning : run.warnings) std::cerr << "warning: " << warning << "\n";
  std::cout << path << std::endl;
  return 0;
}

int write_comparison(const CompareOptions& options) {
  const Comparison comparison = compare_runs(options.directories);
  write_file(options.out, compare_page(comparison));
  for (const ComparedRun& run : comparison.runs)
    for (const std::string& warning : run.run.warnings)
      std::cerr << "warning: " << run.run.directory << ": " << warning << "\n";
  std::cout << compare_table(comparison) << "\n" << options.out << std::endl;
  return 0;
}

}  // namespace xtape

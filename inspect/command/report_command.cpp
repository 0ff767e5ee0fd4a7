#include <xtape/data/durable_file.hpp>
#include <xtape/inspect/command/report_command.hpp>
#include <xtape/inspect/report/report_page.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <iostream>

namespace xtape {

int write_report(const ReportOptions& options) {
  const RunData run = read_run(options.directory);
  const std::string path = options.out.empty() ? options.directory + "/" + run_folder::kReport : options.out;
  write_file(path, report_page(run, judge(run)));
  for (const std::string& warning : run.warnings) std::cerr << "warning: " << warning << "\n";
  std::cout << path << std::endl;
  return 0;
}

}  // namespace xtape

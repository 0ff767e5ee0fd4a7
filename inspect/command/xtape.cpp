// The command xtape: looks at what runs left behind, and lists files of weights.
#include <xtape/core/error.hpp>
#include <xtape/inspect/command/inspect_command.hpp>
#include <xtape/inspect/command/report_command.hpp>
#include <xtape/train/base/weights_command.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace xtape {

namespace {

/// One readable line on stderr.
int report(std::string message, int code) {
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  std::cerr << "error: " << message << "\n";
  return code;
}

int run_command(int argc, char** argv) {
  CLI::App app("Looks at what runs left behind.", "xtape");
  app.require_subcommand(1);
  app.footer("Exit codes: 0; 2 for a bad path or option; 3 if the run diverged.");
  InspectOptions inspect;
  CLI::App* command =
      app.add_subcommand("inspect", "Tells how gradients flowed in a run, and what went wrong and when");
  command->add_option("run", inspect.directory, "directory of the run")->required();
  command->add_flag("--json", inspect.json, "print JSON for programs");
  command->add_flag("--follow", inspect.follow, "print again whenever the run logs a step, until it is finished");
  ReportOptions report_options;
  CLI::App* report_command =
      app.add_subcommand("report", "Writes a page of charts and verdicts about a run, one HTML file");
  report_command->add_option("run", report_options.directory, "directory of the run")->required();
  report_command->add_option("--out", report_options.out, "the file; by default report.html in the run");
  CompareOptions compare_options;
  CLI::App* compare_command =
      app.add_subcommand("compare",
                         "Writes a page and prints a table about several runs; those that differ in the seed "
                         "alone are one row");
  compare_command->add_option("runs", compare_options.directories, "directories of the runs")->required();
  compare_command->add_option("--out", compare_options.out, "the file")->capture_default_str();
  std::string file;
  CLI::App* weights = app.add_subcommand("weights", "Lists the tensors of a safetensors file");
  weights->add_option("file", file, "the file")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help
    return app.exit(done);
  } catch (const CLI::Error& error) {
    return report(std::string(error.what()) + "; see xtape --help", 2);
  }
  if (*weights) {
    std::cout << weights_listing(file);
    return 0;
  }
  if (*report_command) return write_report(report_options);
  if (*compare_command) return write_comparison(compare_options);
  return inspect_run(inspect);
}

}  // namespace

}  // namespace xtape

int main(int argc, char** argv) {
  try {
    return xtape::run_command(argc, argv);
  } catch (const xtape::Error& error) {
    return xtape::report(error.what(), 2);
  } catch (const std::exception& error) {
    return xtape::report(error.what(), 1);
  }
}

// The program xtape: one command for each task, on runs and on files of weights.
#include <xtape/core/error.hpp>
#include <xtape/core/nearest_name.hpp>
#include <xtape/inspect/command/compare_command.hpp>
#include <xtape/inspect/command/inspect_command.hpp>
#include <xtape/inspect/command/report_command.hpp>
#include <xtape/inspect/command/weights_command.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/program.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace xtape {

namespace {

/// Prints the message on stderr as one line and returns the exit code.
int report(std::string message, int code) {
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  std::cerr << "error: " << message << "\n";
  return code;
}

/// Throws UsageError for an unknown option, command or argument, with a suggestion of a similar name.
[[noreturn]] void fail_unknown(const CLI::App& app, const std::string& argument) {
  const bool is_option = argument.starts_with('-');
  const std::string given = argument.substr(0, is_option ? argument.find('=') : argument.size());
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (is_option) names.push_back(name);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands)
    if (!is_option) names.push_back(command->get_name());
  if (!is_option && commands.empty())
    throw UsageError(app.get_name(), "unexpected argument '" + argument + "'; see --help");
  const std::string bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  throw UsageError(app.get_name(), std::string(is_option ? "there is no option " : "there is no command ") + given +
                                       suggestion(bare, names, is_option ? "--" : ""));
}

/// Adds a command that collects unknown arguments, so that check_given reports them.
CLI::App* add_command(CLI::App& app, const char* name, const char* about) {
  CLI::App* command = app.add_subcommand(name, about);
  command->allow_extras();
  return command;
}

/// Throws UsageError for arguments that are unknown, missing or empty.
void check_given(const CLI::App& app) {
  for (const std::string& unknown : app.remaining())
    if (unknown != "--") fail_unknown(app, unknown);
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string name = option->get_name();
    if (positional && option->count() == 0) throw UsageError(app.get_name(), name + " is missing; see --help");
    for (const std::string& value : option->results())
      if (value.empty()) throw UsageError(app.get_name(), name + " must not be empty");
  }
}

void parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {  // --help
    throw;
  } catch (const CLI::Error& error) {
    throw UsageError(app.get_name(), std::string(error.what()) + "; see --help");
  }
  const auto given = app.get_subcommands();
  if (given.empty()) {
    check_given(app);
    throw UsageError(app.get_name(), "a command is missing; see --help");
  }
  for (const CLI::App* command : given) check_given(*command);
}

int run_command(int argc, char** argv) {
  CLI::App app("Looks at what runs left behind.", "xtape");
  app.allow_extras();
  app.require_subcommand(0, 1);
  app.footer("Exit codes: 0; 1 if the output cannot be written; 2 for a bad path or option; 3 if the run diverged.");
  InspectOptions inspect;
  CLI::App* command = add_command(app, "inspect", "Tells how gradients flowed in a run, and what went wrong and when");
  command->add_option("run", inspect.directory, "directory of the run, needed");
  command->add_flag("--json", inspect.json, "print JSON for programs");
  command->add_flag("--follow", inspect.follow, "print again whenever the run logs a step, until it has ended");
  ReportOptions report_options;
  CLI::App* report_command =
      add_command(app, "report", "Writes a page of charts and verdicts about a run, one HTML file");
  report_command->add_option("run", report_options.directory, "directory of the run, needed");
  report_command->add_option("--out", report_options.out,
                             std::string("the file; by default ") + run_folder::kReport + " in the run");
  CompareOptions compare_options;
  CLI::App* compare_command = add_command(app, "compare",
                                          "Writes a page and prints a table about several runs; those that differ in "
                                          "the seed alone are one row");
  compare_command->add_option("runs", compare_options.directories, "directories of the runs, at least one");
  compare_command->add_option("--out", compare_options.out, "the file")->capture_default_str();
  std::string file;
  CLI::App* weights = add_command(app, "weights", "Lists the tensors of a safetensors file");
  weights->add_option("file", file, "the file, needed");
  try {
    parse(app, argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  }
  if (*weights) return list_weights(file);
  if (*report_command) return write_report(report_options);
  if (*compare_command) return write_comparison(compare_options);
  return inspect_run(inspect);
}

}  // namespace

}  // namespace xtape

int main(int argc, char** argv) {
  int code = 0;
  try {
    code = xtape::run_command(argc, argv);
  } catch (const xtape::Error& error) {
    code = xtape::report(error.what(), 2);
  } catch (const std::exception& error) {
    code = xtape::report(error.what(), 1);
  }
  return xtape::finish_output(code);
}

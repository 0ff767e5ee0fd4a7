#include <xtape/inspect/command/inspect_command.hpp>
#include <xtape/inspect/report/text_page.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

namespace xtape {

namespace {

constexpr auto kPause = std::chrono::milliseconds(250);  // between two updates of a running run

PageOptions page_options() {
  PageOptions options;
  options.colors = isatty(STDOUT_FILENO);
  winsize size{};
  if (options.colors && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.columns = size.ws_col;
  return options;
}

void print(const InspectOptions& options, const RunData& run, const std::vector<Verdict>& verdicts) {
  std::cout << (options.json ? run_page_json(run, verdicts) : run_page(run, verdicts, page_options())) << std::flush;
}

/// Prints the page again after each change, until the run has ended: on a terminal it replaces the last page.
void follow(const InspectOptions& options, RunReader& reader) {
  const char* clear = isatty(STDOUT_FILENO) && !options.json ? "\033[H\033[2J" : "";
  std::cout << clear;
  print(options, reader.run(), judge(reader.run()));
  while (!has_ended(reader.run().status.state) && std::cout) {
    std::this_thread::sleep_for(kPause);
    if (!reader.update()) continue;
    std::cout << (*clear || options.json ? clear : "\n");
    print(options, reader.run(), judge(reader.run()));
  }
  if (!options.json) std::cout << "\nThe run has ended: " << reader.run().status.text << ".\n" << std::flush;
}

}  // namespace

int inspect_run(const InspectOptions& options) {
  RunReader reader(options.directory);
  if (options.follow) follow(options, reader);
  const std::vector<Verdict> verdicts = judge(reader.run());
  if (!options.follow) print(options, reader.run(), verdicts);
  for (const std::string& warning : reader.run().warnings) std::cerr << "warning: " << warning << "\n";
  return diverged(verdicts) ? 3 : 0;
}

}  // namespace xtape

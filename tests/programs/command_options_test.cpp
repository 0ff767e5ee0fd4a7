// Invalid values for every option of every command of xtape. Commands and options are read from --help, so a new one is
// tested without a change here.
#include "refused.hpp"

using namespace xtape;
using namespace xtape::test;

#ifndef XTAPE_DOUBLE  // one dtype is enough

namespace {

/// The first words of the lines in a section of a help text, such as "Subcommands:" or "Positionals:".
std::vector<std::string> names_under(const std::string& help, const std::string& heading) {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : lines_of(help)) {
    if (!line.starts_with("  ")) inside = line == heading;
    else if (inside && line[2] != ' ') out.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return out;
}

struct Command {
  std::string name;
  std::vector<HelpOption> options;
  std::vector<std::string> positionals;
};

std::vector<Command> commands() {
  std::vector<Command> out;
  for (const std::string& name : names_under(run(XTAPE_COMMAND, {"--help"}).out, "Subcommands:")) {
    const Finished help = run(XTAPE_COMMAND, {name, "--help"});
    CHECK(help.code == 0);
    out.push_back({name, options_of(help.out), names_under(help.out, "Positionals:")});
  }
  return out;
}

/// A letter too many in the middle.
std::string misspelled(std::string name) { return name.insert(name.size() / 2, "z"); }

}  // namespace

TEST_CASE("every command of xtape refuses bad options with one line, exit code 2, and nothing written") {
  REQUIRE(commands().size() >= 4);
  for (const Command& command : commands()) {
    const std::string source = "error: [" + command.name + "] ";
    for (const HelpOption& option : command.options) {
      const std::string name = "--" + option.name;
      const std::string meant = option.name.size() >= 4
                                    ? "there is no option --" + misspelled(option.name) + "; did you mean " + name + "?"
                                    : "there is no option --" + misspelled(option.name);
      check_refused(XTAPE_COMMAND, {command.name, "run", "--" + misspelled(option.name)}, source + meant);
      check_refused(XTAPE_COMMAND, {command.name, "run", "--" + misspelled(option.name) + "=1"}, source + meant);
      if (option.placeholder.empty()) {
        check_refused(XTAPE_COMMAND, {command.name, "run", name + "=nonsense"}, name);
      } else {
        check_refused(XTAPE_COMMAND, {command.name, "run", name}, name);
        check_refused(XTAPE_COMMAND, {command.name, "run", name + "="}, name);
        check_refused(XTAPE_COMMAND, {command.name, "run", name, ""}, name);
      }
    }
    check_refused(XTAPE_COMMAND, {command.name, "run", "--zzzzzzzz"}, source + "there is no option --zzzzzzzz; see");
    check_refused(XTAPE_COMMAND, {command.name, "/nowhere/at/all"}, "/nowhere/at/all");
    REQUIRE(command.positionals.size() == 1);
    check_refused(XTAPE_COMMAND, {command.name}, source + command.positionals[0] + " is missing");
    check_refused(XTAPE_COMMAND, {command.name, ""}, source + command.positionals[0] + " must not be empty");
    if (command.positionals[0] != "runs")
      check_refused(XTAPE_COMMAND, {command.name, "run", "another"}, source + "unexpected argument 'another'");
  }
}

TEST_CASE("a misspelled command of xtape is refused, and the right one suggested") {
  for (const Command& command : commands())
    check_refused(XTAPE_COMMAND, {misspelled(command.name), "run"},
                  "[xtape] there is no command " + misspelled(command.name) + "; did you mean " + command.name + "?");
  check_refused(XTAPE_COMMAND, {"nonsense"}, "[xtape] there is no command nonsense; see --help");
  check_refused(XTAPE_COMMAND, {"--helpp"}, "[xtape] there is no option --helpp; did you mean --help?");
  check_refused(XTAPE_COMMAND, {}, "[xtape] a command is missing");
}

#endif

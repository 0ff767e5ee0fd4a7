// Invalid values for every option of every example. The options are read from the --help of each program, so a new
// program or option is tested without a change here.
#include <xtape/core/number_text.hpp>

#include "refused.hpp"

using namespace xtape;
using namespace xtape::test;

#if defined(XTAPE_EXAMPLE_PROGRAMS) && !defined(XTAPE_DOUBLE)  // one dtype is enough: each program has its own

namespace {

/// Values that an option must refuse.
std::vector<std::string> bad_values(const HelpOption& option) {
  if (option.placeholder == "NAME") return {"", "nonsense", option.notes.substr(0, option.notes.find(';'))};
  if (option.placeholder != "N" && option.placeholder != "X") return {};
  std::vector<std::string> out = {"", "1x", "nan", "1e999"};
  if (option.placeholder == "N") out.insert(out.end(), {"1.5", "99999999999999999999"});
  const std::string at_least_text = "at least ", to = " to ";
  const bool at_least = option.notes.starts_with(at_least_text);
  INFO("a range should stand in '", option.notes, "'");
  const double low = number_at(option.notes, at_least ? at_least_text.size() : 0);
  const double high = at_least ? 0 : number_at(option.notes, option.notes.find(to) + to.size());
  const auto text = [&](double value) {
    return option.placeholder == "N" ? std::to_string(static_cast<index_t>(value)) : number_text(value, "%.6f");
  };
  out.push_back(text(low - 1));
  if (!at_least) out.push_back(text(high + 1));
  return out;
}

std::vector<std::string> programs() {
  std::vector<std::string> out;
  std::istringstream paths(XTAPE_EXAMPLE_PROGRAMS);
  for (std::string path; std::getline(paths, path, ':');) out.push_back(path);
  return out;
}

}  // namespace

TEST_CASE("every option of every example refuses bad values with one line, exit code 2, and nothing written") {
  REQUIRE(programs().size() >= 7);
  for (const std::string& program : programs()) {
    const Finished help = run(program, {"--help"});
    CHECK(help.code == 0);
    const std::vector<HelpOption> options = options_of(help.out);
    REQUIRE_MESSAGE(options.size() >= 7, program, " shows no options");
    for (const HelpOption& option : options) {
      const std::string name = "--" + option.name;
      for (const std::string& value : bad_values(option)) check_refused(program, {name + "=" + value}, name);
      if (!option.placeholder.empty()) check_refused(program, {name}, "needs a value");
      else check_refused(program, {name + "=nonsense"}, option.name);
    }
  }
}

TEST_CASE("every misspelled option of every example is refused, and the right one suggested") {
  for (const std::string& program : programs()) {
    const std::vector<HelpOption> options = options_of(run(program, {"--help"}).out);
    for (const HelpOption& option : options) {
      std::string misspelled = option.name;
      misspelled.insert(misspelled.size() / 2, "z");
      const bool near = option.name.size() >= 4;  // of a short name half is wrong
      check_refused(program, {"--" + misspelled},
                    near ? "did you mean --" + option.name + "?" : "there is no option --" + misspelled);
    }
    check_refused(program, {"nonsense"}, "unexpected argument 'nonsense'");
    check_refused(program, {"--seed", "1", "--quick", "--zzzzzzzzzz"}, "--zzzzzzzzzz");
  }
}

TEST_CASE("options that exclude each other, and runs and files that are not there") {
  for (const std::string& program : programs()) {
    const std::vector<HelpOption> options = options_of(run(program, {"--help"}).out);
    const auto has = [&](const std::string& name) {
      return std::any_of(options.begin(), options.end(), [&](const HelpOption& o) { return o.name == name; });
    };
    if (!has("resume")) continue;
    check_refused(program, {"--out=new", "--resume=old"}, "");
    check_refused(program, {"--resume=/nowhere/at/all"}, "/nowhere/at/all");
  }
}

#endif

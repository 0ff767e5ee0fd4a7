#include <xtape/inspect/run/run_json.hpp>

#include "child_process.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("options of a run are read back as they were, whatever bytes and numbers they hold") {
  const TemporaryDirectory work;
  RunDescription description = {.program = "program"};
  std::vector<std::pair<std::string, std::string>> want;
  const auto add = [&](const std::string& name, const OptionValue& value, const std::string& text) {
    description.options.emplace_back(name, value);
    want.emplace_back(name, text);
  };
  add("a-text", std::string("caf\xE9.txt"), "caf\xE9.txt");
  add("b-text", std::string("100 %41 caf\xC3\xA9"), "100 %41 caf\xC3\xA9");
  add("c-number", 0.1, "0.1");
  add("d-number", 5e-324, "5e-324");
  add("e-number", kInf, "Inf");
  add("f-number", -kInf, "-Inf");
  add("g-number", kNaN, "NaN");
  add("h-flag", true, "true");
  add("i-steps", index_t{9'007'199'254'740'993}, "9007199254740993");
  work.write("run.json", run_json({.description = description}));
  CHECK(options_of_run(work.path(), "program") == want);
  const std::string resumed =
      resumed_run_json(content_of(work.path() + "/run.json"), {.description = {.program = "program", .steps = 7}});
  work.write("run.json", resumed);
  want.emplace_back("steps", "7");
  CHECK(options_of_run(work.path(), "program") == want);
}

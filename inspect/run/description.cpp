#include <xtape/core/error.hpp>
#include <xtape/inspect/run/description.hpp>

namespace xtape {

OnTrouble parse_on_trouble(const std::string& name) {
  if (name == "warn") return OnTrouble::warn;
  if (name == "skip") return OnTrouble::skip;
  if (name == "stop") return OnTrouble::stop;
  throw ValueError("run_log", "warn, skip or stop on trouble", "'" + name + "'");
}

}  // namespace xtape

#include <xtape/core/error.hpp>

namespace xtape {

std::string expected_got(std::string_view expected, std::initializer_list<std::string> got) {
  std::string out = "expected " + std::string(expected) + ", got ";
  for (auto one = got.begin(); one != got.end(); ++one)
    out += (one == got.begin() ? "" : one + 1 == got.end() ? " and " : ", ") + *one;
  return out;
}

Error::Error(std::string_view op, std::string_view what)
    : std::runtime_error("[" + std::string(op) + "] " + std::string(what)) {}

void fail_index(std::string_view op, std::string_view what, index_t index, index_t low, index_t high) {
  if (high < low) throw IndexError(op, "no " + std::string(what), index);
  throw IndexError(op, std::string(what) + " in " + std::to_string(low) + ".." + std::to_string(high), index);
}

}  // namespace xtape

#include <xtape/core/error.hpp>

namespace xtape {

Error::Error(std::string_view op, std::string_view what)
    : std::runtime_error("[" + std::string(op) + "] " + std::string(what)) {}

}  // namespace xtape

#include <xtape/data/number_text.hpp>

#include <cmath>
#include <cstdio>

namespace xtape {

std::string number_text(double value, const char* format) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  char text[64];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, format, value))};
}

}  // namespace xtape

// Numbers as text, in files and on the console.
#pragma once

#include <string>

namespace xtape {

/// The number in printf's `format`, or "NaN", "Inf", "-Inf".
std::string number_text(double value, const char* format = "%.9g");

}  // namespace xtape

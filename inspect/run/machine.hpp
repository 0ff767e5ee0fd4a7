// Facts about the machine and the build, for run.json.
#pragma once

#include <cstdint>
#include <string>

namespace xtape {

std::string version();          ///< version of the library: "0.1.0"
std::string compiler();         ///< compiler of the library: "GCC 12.2.0"
std::string cpu_name();         ///< "unknown" if the system does not say
std::int64_t resident_bytes();  ///< resident memory of this process; 0 if unknown

/// The current UTC time in strftime's `format`.
std::string utc_time(const char* format);

}  // namespace xtape

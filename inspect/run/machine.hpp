// What the run log notes about the machine and the build.
#pragma once

#include <cstdint>
#include <string>

namespace xtape {

std::string version();          ///< of the library: "0.1.0"
std::string compiler();         ///< that built the library: "GCC 12.2.0"
std::string cpu_name();         ///< "unknown" where the system does not tell
std::int64_t resident_bytes();  ///< memory of this process; 0 where the system does not tell

/// Now in UTC, as strftime formats it.
std::string utc_time(const char* format);

}  // namespace xtape

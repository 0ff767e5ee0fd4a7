// The lock of a run folder: who holds it, and whether that process lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// A process, told from one that gets the same number later, and from those of other machines.
struct ProcessIdentity {
  std::int64_t process = 0;
  std::uint64_t started = 0;  ///< in clock ticks since the machine was started; 0 if unknown
  std::string boot = {};      ///< a name of this start of the machine; "" if unknown
  std::string host = {};
};

ProcessIdentity this_process();

/// What the lock of a run folder says.
struct LockRecord {
  ProcessIdentity holder;
  std::uint64_t inode = 0;  ///< of the lock file itself: another one means that the folder is a copy; 0 if unknown
};

std::string lock_text(const LockRecord& record);
/// Reads such a text, or a number alone, as older versions wrote it. Nothing for anything else.
std::optional<LockRecord> read_lock_text(std::string_view text);

enum class LockHeld {
  yes,
  no,
  unknown  ///< there is no lock file, it cannot be opened, or the file system has no locks
};
/// Whether a process holds the lock of the folder. Takes it shared for a moment if none does.
LockHeld lock_held(const std::string& directory);

enum class ProcessLife {
  running,
  paused,   ///< stopped by SIGSTOP or a debugger
  gone,     ///< no process has this number
  another,  ///< the number belongs to a process that started at another time
};
/// What has become of a process of this start of this machine.
ProcessLife process_life(const ProcessIdentity& process);

}  // namespace xtape

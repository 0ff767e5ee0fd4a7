#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace xtape {

namespace {

using LockJson = nlohmann::ordered_json;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The state and the start time in /proc/N/stat, behind the name of the program, which may hold any character.
struct ProcessStat {
  char state = 0;
  std::uint64_t started = 0;
};
std::optional<ProcessStat> stat_of(std::int64_t process) {
  constexpr int kFieldsBetween = 18;  // from the state, field 3, to the start time, field 22
  const std::string text = first_line(("/proc/" + std::to_string(process) + "/stat").c_str());
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStat out;
  std::string skipped;
  fields >> out.state;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  fields >> out.started;
  return fields ? std::optional(out) : std::nullopt;
}

}  // namespace

ProcessIdentity this_process() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::int64_t process = ::getpid();
  const std::optional<ProcessStat> stat = stat_of(process);
  return {process, stat ? stat->started : 0, first_line("/proc/sys/kernel/random/boot_id"), host};
}

std::string lock_text(const LockRecord& record) {
  const ProcessIdentity& p = record.holder;
  return json_text(LockJson{{"process", p.process},
                            {"started", p.started},
                            {"boot", p.boot},
                            {"host", json_bytes<LockJson>(p.host)},
                            {"inode", record.inode}}) +
         "\n";
}

std::optional<LockRecord> read_lock_text(std::string_view text) {
  const LockJson json = parse_json<LockJson>(text);
  try {
    if (json.is_number()) return LockRecord{{.process = integer_of<std::int64_t>(json)}};
    if (!json.is_object()) return std::nullopt;
    return LockRecord{{integer_of<std::int64_t>(json.at("process")), integer_of<std::uint64_t>(json.at("started")),
                       json.at("boot").get<std::string>(), bytes_of(json.at("host"))},
                      integer_of<std::uint64_t>(json.at("inode"))};
  } catch (const LockJson::exception&) {
    return std::nullopt;
  }
}

LockHeld lock_held(const std::string& directory) {
  const int descriptor = open_file(directory + "/" + run_folder::kLock, O_RDONLY);
  if (descriptor < 0) return LockHeld::unknown;
  const bool taken = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  const int error = errno;
  ::close(descriptor);
  return taken ? LockHeld::no : error == EWOULDBLOCK ? LockHeld::yes : LockHeld::unknown;
}

ProcessLife process_life(const ProcessIdentity& process) {
  const std::optional<ProcessStat> stat = stat_of(process.process);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return ProcessLife::gone;
  if (process.started != 0 && stat->started != process.started) return ProcessLife::another;
  return stat->state == 'T' || stat->state == 't' ? ProcessLife::paused : ProcessLife::running;
}

}  // namespace xtape

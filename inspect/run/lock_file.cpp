#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace xtape {

namespace {

using LockJson = nlohmann::ordered_json;

/// The beginning of a file up to a character.
std::string read_until(const std::string& path, char end) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, end);
  return text;
}

/// The state and the start time in /proc/N/stat, behind the name of the program, which may hold any character.
struct ProcessStat {
  char state = 0;
  std::uint64_t started = 0;
};
std::optional<ProcessStat> stat_of(std::int64_t process) {
  constexpr std::size_t kStarted = 19;  // field 22; the state is field 3
  const std::string text = read_until("/proc/" + std::to_string(process) + "/stat", '\0');
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  const std::vector<std::string_view> fields = words_between_spaces(std::string_view(text).substr(name_end + 1));
  if (fields.size() <= kStarted) return std::nullopt;
  ProcessStat out{.state = fields[0][0]};
  const std::string_view started = fields[kStarted];
  const auto read = std::from_chars(started.data(), started.data() + started.size(), out.started);
  return read.ec == std::errc() ? std::optional(out) : std::nullopt;
}

}  // namespace

ProcessIdentity this_process() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::int64_t process = ::getpid();
  const std::optional<ProcessStat> stat = stat_of(process);
  return {process, stat ? stat->started : 0, read_until("/proc/sys/kernel/random/boot_id", '\n'), host};
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

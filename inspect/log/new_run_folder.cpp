#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/log/new_run_folder.hpp>
#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/machine.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace xtape {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestLock = 1024;  // bytes of a lock's text

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw FileError("run_log", path + ": " + reason);
}

/// Whether the directory holds at most the lock and an incomplete run.json.
bool no_run_yet(const fs::path& directory, std::error_code& error) {
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name != run_folder::kLock && !is_temporary_name(name, run_folder::kRun)) return false;
  }
  return true;
}

/// Creates a directory. Returns false if it existed.
bool make_directory(const fs::path& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) fail(path.string(), "the directory cannot be created: " + error.message());
  return made;
}

/// The first free name; two runs may start in the same second.
std::string make_named_by_time(const std::string& program) {
  const std::string name = "runs/" + program + "-" + utc_time("%Y%m%d-%H%M%S");
  std::string free = name;
  for (int i = 2; !make_directory(free); ++i) free = name + "-" + std::to_string(i);
  return free;
}

/// Locks an open file. Tries again for a short time, since those who ask for the state of a run hold its lock for a
/// moment. Returns 0 or errno.
int lock_soon(int descriptor) {
  constexpr int kTries = 20;
  for (int i = 0;; ++i) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK || i == kTries) return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

std::string make_run_folder(const std::string& out, const std::string& program) {
  if (out.empty()) return make_named_by_time(program);
  std::error_code error;
  if (fs::exists(out, error) && !fs::is_directory(out, error)) fail(out, "it is not a directory");
  if (!make_directory(out)) {
    const bool empty = no_run_yet(out, error);
    if (error) fail(out, error.message());
    if (!empty) fail(out, "the directory is not empty; a run needs its own directory, or --resume to continue");
  }
  return out;
}

void remove_leftovers(const std::string& directory) {
  const auto stem = [](const std::string& name) { return name.substr(0, name.rfind(".new-")); };
  std::error_code ignored;  // a leftover does no harm
  for (const char* folder :
       {"", run_folder::kCheckpoints, run_folder::kAttention, run_folder::kFlight, run_folder::kAnomaly})
    for (const auto& entry : fs::directory_iterator(directory + "/" + folder, ignored)) {
      const std::string name = entry.path().filename(), final_name = stem(name);
      const bool ours = *folder != '\0' || final_name == run_folder::kRun || final_name == run_folder::kWeights;
      if (ours && is_temporary_name(name, final_name)) fs::remove(entry.path(), ignored);
    }
}

FolderLock::FolderLock(const std::string& directory) {
  const std::string path = directory + "/" + run_folder::kLock;
  descriptor_ = open_file(path, O_RDWR | O_CREAT);
  if (descriptor_ < 0) fail(path, std::strerror(errno));
  if (const int error = lock_soon(descriptor_)) {
    std::string holder(kLongestLock, '\0');
    const ssize_t size = ::read(descriptor_, holder.data(), holder.size());
    ::close(descriptor_);
    if (error != EWOULDBLOCK) fail(path, std::strerror(error));
    holder.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    const std::optional<LockRecord> record = read_lock_text(holder);
    fail(directory, "the directory is in use by another run" +
                        (record ? " (process " + std::to_string(record->holder.process) + ")" : ""));
  }
  struct stat status{};
  const std::uint64_t inode = ::fstat(descriptor_, &status) == 0 ? status.st_ino : 0;
  if (::ftruncate(descriptor_, 0) == 0) write_all(descriptor_, lock_text({this_process(), inode}));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace xtape

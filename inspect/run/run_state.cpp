#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/run/run_state.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace xtape {

namespace {

std::string lock_path(const RunData& run) { return run.directory + "/" + run_folder::kLock; }

std::optional<LockRecord> lock_of(const RunData& run) {
  std::ifstream file(lock_path(run), std::ios::binary);
  return read_lock_text(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Whether the lock was made in this folder, not copied into it.
bool is_original(const RunData& run, const LockRecord& lock) {
  struct stat status{};
  return lock.inode == 0 || ::stat(lock_path(run).c_str(), &status) != 0 || status.st_ino == lock.inode;
}

RunStatus unknown(const std::string& why) {
  return {RunState::unknown, "not finished; whether it goes on is not known: " + why};
}

RunStatus ended(RunState state, const std::string& why, bool half_line) {
  if (half_line) return {RunState::torn, "killed in the middle of a line: " + why};
  return {state, std::string(state_name(state)) + ": " + why};
}

/// The status of a run whose lock is held by a process.
RunStatus alive(const std::optional<LockRecord>& lock, bool here) {
  if (!lock) return {RunState::running, "running"};
  const std::string process = "process " + std::to_string(lock->holder.process);
  if (here && process_life(lock->holder) == ProcessLife::paused)
    return {RunState::paused, "paused: " + process + " is stopped by a signal"};
  return {RunState::running, "running (" + process + ")"};
}

/// The status of a run without an end in its events.
RunStatus status_by_lock(const RunData& run, bool half_line) {
  const std::optional<LockRecord> lock = lock_of(run);
  const LockHeld held = lock_held(run.directory);
  const ProcessIdentity now = this_process();
  const bool here = lock && lock->holder.host == now.host;
  if (held == LockHeld::yes) return alive(lock, here);
  if (!lock) return unknown("there is no lock");
  if (lock->holder.host.empty()) return unknown("its lock has no name of a machine");
  if (!here) return unknown("it ran on " + lock->holder.host);
  if (!is_original(run, *lock)) return unknown("the folder is a copy");
  const std::string process = "process " + std::to_string(lock->holder.process);
  if (lock->holder.boot != now.boot)
    return ended(RunState::out_of_date, "the machine was started again since", half_line);
  const ProcessLife life = process_life(lock->holder);
  if (life == ProcessLife::another) return ended(RunState::out_of_date, process + " is another program now", half_line);
  if (life == ProcessLife::gone) return ended(RunState::killed, process + " is gone", half_line);
  if (held == LockHeld::no) return ended(RunState::killed, process + " has given the folder up", half_line);
  return alive(lock, here);
}

}  // namespace

const char* state_name(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::paused:
      return "paused";
    case RunState::finished:
      return "finished";
    case RunState::stopped:
      return "stopped";
    case RunState::killed:
      return "killed";
    case RunState::torn:
      return "torn";
    case RunState::out_of_date:
      return "out of date";
    case RunState::unknown:
      break;
  }
  return "unknown";
}

bool has_ended(RunState state) {
  return state != RunState::running && state != RunState::paused && state != RunState::unknown;
}

RunStatus run_status(const RunData& run, bool half_line) {
  if (run.finished()) return {RunState::finished, "finished"};
  if (lock_held(run.directory) != LockHeld::yes) {  // a resumed run holds the lock before it cuts the end off
    const auto last = std::find_if(run.events.rbegin(), run.events.rend(),
                                   [](const EventRecord& event) { return event.kind == "stopped"; });
    if (last != run.events.rend() && run.ends_at(last->step)) return {RunState::stopped, last->text};
  }
  return status_by_lock(run, half_line);
}

}  // namespace xtape

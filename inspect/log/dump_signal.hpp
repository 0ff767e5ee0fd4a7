// SignalWatch: signals that the run log handles at the end of a step.
#pragma once

#include <csignal>
#include <string>

namespace xtape {

/// "SIGINT", "SIGTERM", "SIGHUP"; "signal 10" for another one.
std::string signal_name(int signal);

/// Records SIGUSR1 while it lives. Records SIGINT, SIGTERM and SIGHUP too if their default action was set; a second one
/// ends the process at once. Only one object may exist at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal received since the last call, or 0.
  int take();
  /// Ends the process by a signal that take() returned, as its default action would have.
  [[noreturn]] static void give_back(int signal);

 private:
  struct Kept {
    int signal;
    bool replaced;
    struct sigaction before;
  } kept_[4];
};

/// While it lives, a reader of stdout that went away ends no run: writing to it fails, as on a full disk. Does nothing
/// if the program handles SIGPIPE itself.
class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal();
  ~IgnoredPipeSignal();
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;

 private:
  struct sigaction before_{};
};

}  // namespace xtape

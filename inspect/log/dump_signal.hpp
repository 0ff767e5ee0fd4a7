// Signals that a run log reacts to, at the end of the step in which they come.
#pragma once

#include <csignal>

namespace xtape {

/// While it lives, SIGUSR1 is noted, and so are SIGINT and SIGTERM if they would have ended the process at once; a
/// second one of these does. One at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal that came since the last call, or 0.
  int take();
  /// Ends the process by a signal that take() returned, as if nobody had noted it.
  [[noreturn]] static void give_back(int signal);

 private:
  struct Kept {
    int signal;
    bool replaced;
    struct sigaction before;
  } kept_[3];
};

}  // namespace xtape

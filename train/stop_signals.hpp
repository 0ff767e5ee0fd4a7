// Stopping a program at the end of a step: by SIGINT (Ctrl-C) or SIGTERM.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

namespace xtape {

/// Thrown to end a program before its time, once it has put everything in order. Not an error: run_program prints the
/// text and ends with the exit code.
class StopRequested : public std::runtime_error {
 public:
  StopRequested(int exit_code, const std::string& text) : std::runtime_error(text), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// While it lives, SIGINT and SIGTERM are noted; a SIGINT after one that is noted ends the process at once. One at a
/// time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  ///< puts back what was before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first signal that came, or 0.
  int noted() const;

 private:
  struct sigaction interrupt_before_ {
  }, terminate_before_{};
};

}  // namespace xtape

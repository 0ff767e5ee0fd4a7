// StopSignals: stops a program at the end of a step after SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal is
// closed).
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

namespace xtape {

/// Thrown to end a program early after its state is saved. It is not an error: run_program prints the text and returns
/// the exit code.
class StopRequested : public std::runtime_error {
 public:
  StopRequested(int exit_code, const std::string& text) : std::runtime_error(text), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// Records SIGINT, SIGTERM and SIGHUP while it lives; a SIGHUP that is ignored, as under nohup, stays so. A SIGINT
/// after a recorded signal ends the process at once. Only one object may exist at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  ///< restores the previous handlers
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first signal received, or 0.
  int noted() const;

 private:
  struct sigaction interrupt_before_{}, terminate_before_{}, hangup_before_{};
};

}  // namespace xtape

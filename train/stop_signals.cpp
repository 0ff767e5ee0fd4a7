#include <xtape/train/stop_signals.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

namespace xtape {

namespace {

std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use nothing else");

/// Calls only async-signal-safe functions.
void note(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) {
    const int error = errno;
    constexpr std::string_view text = "\nstopping after this step (Ctrl-C again: at once)\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    errno = error;
  } else if (signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
}

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  struct sigaction ours{};
  ours.sa_handler = note;
  ours.sa_flags = SA_RESTART;
  sigaction(SIGINT, &ours, &interrupt_before_);
  sigaction(SIGTERM, &ours, &terminate_before_);
  sigaction(SIGHUP, nullptr, &hangup_before_);
  if (hangup_before_.sa_handler != SIG_IGN) sigaction(SIGHUP, &ours, nullptr);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  sigaction(SIGHUP, &hangup_before_, nullptr);
}

int StopSignals::noted() const { return first_signal; }

}  // namespace xtape

#include <xtape/inspect/log/dump_signal.hpp>

#include <atomic>
#include <cstdlib>

namespace xtape {

namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) { noted.store(signal); }

}  // namespace

std::string signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "signal " + std::to_string(signal);
  }
}

SignalWatch::SignalWatch()
    : kept_{{SIGUSR1, false, {}}, {SIGINT, false, {}}, {SIGTERM, false, {}}, {SIGHUP, false, {}}} {
  for (Kept& kept : kept_) {
    sigaction(kept.signal, nullptr, &kept.before);
    kept.replaced = kept.before.sa_handler == SIG_DFL;
    if (!kept.replaced) continue;
    struct sigaction ours{};
    ours.sa_handler = note;
    ours.sa_flags = SA_RESTART | (kept.signal == SIGUSR1 ? 0 : static_cast<int>(SA_RESETHAND));
    sigaction(kept.signal, &ours, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (const Kept& kept : kept_) {
    struct sigaction now{};
    sigaction(kept.signal, nullptr, &now);
    if (kept.replaced && now.sa_handler == note) sigaction(kept.signal, &kept.before, nullptr);
  }
}

int SignalWatch::take() { return noted.exchange(0); }

IgnoredPipeSignal::IgnoredPipeSignal() {
  sigaction(SIGPIPE, nullptr, &before_);
  if (before_.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

IgnoredPipeSignal::~IgnoredPipeSignal() {
  if (before_.sa_handler == SIG_DFL) sigaction(SIGPIPE, &before_, nullptr);
}

void SignalWatch::give_back(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);  // only if the signal is blocked
}

}  // namespace xtape

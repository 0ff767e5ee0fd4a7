#include <xtape/train/stop_signals.hpp>

#include "support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace xtape;

namespace {

/// Status of a child that does `body` and ends with what it returns; its stderr goes nowhere.
template <class Body>
int status_of(const Body& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(STDERR_FILENO);
    _exit(body());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("the first signal is noted, a SIGINT after it ends the process at once") {
  for (const int first : {SIGINT, SIGTERM}) {
    const int noted = status_of([first] {
      const StopSignals signals;
      const bool none = signals.noted() == 0;
      std::raise(first);
      if (first == SIGINT) std::raise(SIGTERM);  // asks for what is already to be done
      return none && signals.noted() == first ? 0 : 1;
    });
    CHECK(WIFEXITED(noted));
    CHECK(WEXITSTATUS(noted) == 0);
    const int second = status_of([first] {
      const StopSignals signals;
      std::raise(first);
      std::raise(SIGINT);
      return 0;
    });
    CHECK(WIFSIGNALED(second));
    CHECK(WTERMSIG(second) == SIGINT);
  }
}

TEST_CASE("signals act as before once they are not waited for") {
  const int status = status_of([] {
    std::signal(SIGTERM, SIG_DFL);  // the test framework has a handler
    {
      const StopSignals signals;
    }
    std::raise(SIGTERM);
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a closed terminal asks for the end of the run, but not of one under nohup") {
  const int noted = status_of([] {
    const StopSignals signals;
    std::raise(SIGHUP);
    return signals.noted() == SIGHUP ? 0 : 1;
  });
  CHECK(WIFEXITED(noted));
  CHECK(WEXITSTATUS(noted) == 0);
  const int ignored = status_of([] {
    std::signal(SIGHUP, SIG_IGN);
    const StopSignals signals;
    std::raise(SIGHUP);
    return signals.noted() == 0 ? 0 : 1;
  });
  CHECK(WIFEXITED(ignored));
  CHECK(WEXITSTATUS(ignored) == 0);
}

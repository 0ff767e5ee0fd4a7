// Runs a part of a test in a forked child process.
#pragma once

#include "support.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace xtape::test {

/// Exit code of a child that runs `body`: 0 if body returned true, 1 if false, 2 if it threw, -1 if a signal ended the
/// child. A child that hangs is killed after 20 seconds.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    int code = 2;
    try {
      code = body() ? 0 : 1;
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace xtape::test

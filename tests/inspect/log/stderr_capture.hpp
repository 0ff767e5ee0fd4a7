// What a test prints on stderr.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "support.hpp"

namespace xtape::test {

/// While it lives, stderr goes to a file, or nowhere.
class StderrCapture {
 public:
  explicit StderrCapture(const std::string& path = "/dev/null") : before_(dup(STDERR_FILENO)) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(dup2(file, STDERR_FILENO) == STDERR_FILENO);
    close(file);
  }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;
  ~StderrCapture() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }

 private:
  int before_;
};

}  // namespace xtape::test

// Runs a program as a user would and captures its output.
#pragma once

#include "data/temporary_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace xtape::test {

/// A text in simple English that a character model can learn.
inline std::string some_text(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "the " + std::to_string(i * i % 97) + " and the " + std::to_string(i) + "\n";
  return text;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The number that begins at a position of a text, or after spaces there.
inline double number_at(const std::string& text, std::size_t position) {
  position = std::min(text.find_first_not_of(' ', position), text.size());
  double number = 0;
  const auto read = std::from_chars(text.data() + position, text.data() + text.size(), number);
  REQUIRE(read.ec == std::errc());
  return number;
}

/// The number after the last occurrence of `before` in a text.
inline double number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.rfind(before);
  REQUIRE(at != std::string::npos);
  return number_at(text, at + before.size());
}

struct Finished {
  int code;  ///< exit code, or -1 if a signal ended the program
  std::string out, err;
};

/// Runs a program in a directory and waits for it.
inline Finished run(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& directory = ".") {
  const TemporaryDirectory streams;
  const std::string out = streams.path() + "/out", err = streams.path() + "/err";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = 0;  // a fork would copy the page tables of the tests, which takes long under the address sanitizer
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return {127, "", ""};
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
}

}  // namespace xtape::test

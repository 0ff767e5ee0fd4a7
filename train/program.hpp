// The frame around a program: every error becomes one readable line and an exit code.
#pragma once

namespace xtape {

/// Runs `body` and returns the exit code for the process: 0; after an exception 2 if the arguments or files given are
/// at fault (UsageError, ValueError, FileError), 3 if the training diverged (DivergedError), what StopRequested says
/// (130 or 143 after SIGINT or SIGTERM), else 1. The error goes to stderr as one line.
///
///   int main(int argc, char** argv) { return xtape::run_program(train, argc, argv); }
int run_program(void (*body)(int argc, char** argv), int argc, char** argv) noexcept;

}  // namespace xtape

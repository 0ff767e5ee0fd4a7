// run_program: turns every error of a program into one line on stderr and an exit code.
#pragma once

namespace xtape {

/// Runs `body` and returns the exit code: 0; 2 for wrong arguments or files (UsageError, ValueError, FileError); 3 if
/// the training diverged (DivergedError); the code of StopRequested (130 after SIGINT, 143 after SIGTERM, 129 after
/// SIGHUP); 1 for any other exception, and if the body succeeded but stdout could not be written. The error is printed
/// on stderr as one line.
///
///   int main(int argc, char** argv) { return xtape::run_program(train, argc, argv); }
int run_program(void (*body)(int argc, char** argv), int argc, char** argv) noexcept;

/// Writes what is still buffered for stdout. Returns `code`; if output was lost, as on a full disk, it prints a line on
/// stderr and returns 1 in place of 0.
int finish_output(int code) noexcept;

}  // namespace xtape

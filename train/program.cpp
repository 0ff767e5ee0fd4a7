#include <xtape/core/error.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/program.hpp>
#include <xtape/train/stop_signals.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <string>

namespace xtape {

namespace {

int report(const char* message, int code, const char* kind = "error: ") noexcept {
  std::fputs(kind, stderr);
  for (const char* c = message; *c != '\0'; ++c) std::fputc(static_cast<unsigned char>(*c) < ' ' ? ' ' : *c, stderr);
  std::fputc('\n', stderr);
  return code;
}

int code_of(void (*body)(int, char**), int argc, char** argv) noexcept {
  try {
    body(argc, argv);
    return 0;
  } catch (const StopRequested& stop) {
    return report(stop.what(), stop.exit_code(), "");
  } catch (const UsageError& error) {
    return report(error.what(), 2);
  } catch (const ValueError& error) {
    return report(error.what(), 2);
  } catch (const FileError& error) {
    return report(error.what(), 2);
  } catch (const DivergedError& error) {
    return report(error.what(), 3);
  } catch (const std::bad_alloc&) {
    return report("out of memory", 1);
  } catch (const std::exception& error) {
    return report(error.what(), 1);
  } catch (...) {
    return report("an exception of unknown type", 1);
  }
}

}  // namespace

int run_program(void (*body)(int, char**), int argc, char** argv) noexcept {
  return finish_output(code_of(body, argc, argv));
}

int finish_output(int code) noexcept {
  std::cout.flush();
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const char* const text = flushed ? "a part of the output is lost" : std::strerror(reason);
  return report((std::string("standard output cannot be written: ") + text).c_str(), code == 0 ? 1 : code);
}

}  // namespace xtape

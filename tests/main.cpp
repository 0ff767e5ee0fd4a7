// Runs the tests. With XTAPE_TEST_LOCALE=1 they run in the locale of the environment, whose decimal point is a comma.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <string>

/// Read by the leak sanitizer: the C library never frees the list of folders that it makes of LOCPATH.
extern "C" const char* __lsan_default_suppressions() { return "leak:argz_add_sep"; }  // NOLINT(*-naming)

int main(int argc, char** argv) {
  if (std::getenv("XTAPE_TEST_LOCALE") != nullptr) {
    if (std::setlocale(LC_ALL, "") == nullptr || *std::localeconv()->decimal_point != ',') {
      std::fputs("error: the locale of the environment is not there, or has no decimal comma\n", stderr);
      return 2;
    }
    std::locale::global(std::locale(""));
  }
  return doctest::Context(argc, argv).run();
}

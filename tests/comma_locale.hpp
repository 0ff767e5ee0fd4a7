// A locale with a decimal comma, made for a test.
#pragma once

#include "data/temporary_files.hpp"

#include <clocale>
#include <cstdlib>
#include <locale>
#include <string>

namespace xtape::test {

/// While it lives, the C library and C++ streams write 1,5 for one and a half, as in a program of Qt or GTK.
class CommaLocale {
 public:
  CommaLocale() : c_before_(std::setlocale(LC_ALL, nullptr)) {
    const std::string make = "localedef -i de_DE -f UTF-8 '" + folder_.path() + "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(make.c_str()) != 0) return;  // there are warnings only where it fails
    if (const char* path = std::getenv("LOCPATH")) path_before_ = path;
    setenv("LOCPATH", folder_.path().c_str(), 1);
    if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) return;
    cpp_before_ = std::locale::global(std::locale("de_DE.UTF-8"));
    made_ = true;
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;
  ~CommaLocale() {
    if (made_) std::locale::global(cpp_before_);
    std::setlocale(LC_ALL, c_before_.c_str());
    if (path_before_.empty()) unsetenv("LOCPATH");
    else setenv("LOCPATH", path_before_.c_str(), 1);
  }

  /// False where the sources of locales are not installed (package locales).
  bool made() const { return made_; }

 private:
  TemporaryDirectory folder_;
  std::string c_before_, path_before_;
  std::locale cpp_before_;
  bool made_ = false;
};

}  // namespace xtape::test

// Everything in which a file differs from what it is to be loaded into, told at once.
#pragma once

#include <xtape/core/array.hpp>

#include <string>
#include <vector>

namespace xtape {

class Mismatches {
 public:
  void missing(const std::string& name) { missing_.push_back(name); }        ///< wanted, and not in the file
  void unexpected(const std::string& name) { unexpected_.push_back(name); }  ///< in the file, and not wanted
  void shape(const std::string& name, const Shape& in_file, const Shape& wanted);
  void other(const std::string& text) { others_.push_back(text); }

  bool none() const;
  /// Throws MismatchError "[op] path does not fit: missing a, b; unexpected c; shape of d is (2,3) and should be (3,2)"
  /// unless there are none.
  void raise(const std::string& op, const std::string& path) const;

 private:
  std::vector<std::string> missing_, unexpected_, others_;
};

}  // namespace xtape

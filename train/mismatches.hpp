// Mismatches: collects all differences between a file and the object to load it into.
#pragma once

#include <xtape/core/shape.hpp>

#include <string>
#include <vector>

namespace xtape {

class Mismatches {
 public:
  void missing(const std::string& name) { missing_.push_back(name); }        ///< expected, but not in the file
  void unexpected(const std::string& name) { unexpected_.push_back(name); }  ///< in the file, but not expected
  void shape(const std::string& name, const Shape& in_file, const Shape& wanted);
  void other(const std::string& text) { others_.push_back(text); }

  bool none() const;
  /// Throws MismatchError "[op] path does not fit: missing a, b; unexpected c; shape of d is (2,3) and should be (3,2)"
  /// if there are any.
  void raise(const std::string& op, const std::string& path) const;

 private:
  std::vector<std::string> missing_, unexpected_, others_;
};

}  // namespace xtape

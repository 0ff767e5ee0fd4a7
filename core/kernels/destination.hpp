// Destination: where a kernel or a rule puts a gradient.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A buffer to write a gradient into; without data nobody wants it.
struct Destination {
  real* data = nullptr;
  bool accumulate = false;  ///< false: overwrite (the buffer holds garbage); true: add

  real beta() const { return accumulate ? real(1) : real(0); }
};

}  // namespace xtape::inline XTAPE_DTYPE

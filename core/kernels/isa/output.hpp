// Output: where a kernel or a backward function writes its result.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Where a kernel writes its result. A null pointer means that the result is not needed.
struct Output {
  real* data = nullptr;
  bool add = false;  ///< true: add to the buffer; false: overwrite it, whatever it holds

  real beta() const { return add ? real(1) : real(0); }
};

}  // namespace xtape::inline XTAPE_DTYPE

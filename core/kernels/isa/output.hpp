// Output: where a kernel or a backward function writes its result.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

inline namespace XTAPE_DTYPE {

/// Where a kernel writes its result. A null pointer means that the result is not needed.
struct Output {
  real* data = nullptr;
  bool add = false;  ///< true: add to the buffer; false: overwrite it, whatever it holds

  real beta() const { return add ? real(1) : real(0); }

  /// From element `first` on.
  Output at(index_t first) const { return {offset_pointer(data, first), add}; }

  /// Writes or adds one element, rounded last.
  void put(index_t i, double value) const {
    data[i] = static_cast<real>(add ? static_cast<double>(data[i]) + value : value);
  }
};

}  // namespace XTAPE_DTYPE

inline Output offset_pointer(Output out, index_t by) { return out.at(by); }

}  // namespace xtape

// The scalar type and the namespace that carries it.
#pragma once

#include <cstdint>

// A namespace name cannot come from a function: the library is compiled once with float and once with double, and the
// inline namespace makes linking the two dtypes together an error.
#ifdef XTAPE_DOUBLE
#define XTAPE_DTYPE f64
#else
#define XTAPE_DTYPE f32
#endif

namespace xtape {

using index_t = std::int64_t;

/// data + by, or null for null: arithmetic on a null pointer is undefined.
template <class T>
constexpr T* offset_pointer(T* data, index_t by) {
  return data ? data + by : data;
}

inline namespace XTAPE_DTYPE {
#ifdef XTAPE_DOUBLE
using real = double;
#else
using real = float;
#endif
}  // namespace XTAPE_DTYPE

}  // namespace xtape

// The scalar type and the namespace that carries it.
#pragma once

#include <cstdint>

// A namespace name cannot come from a function: the library is compiled once with float and once with double, and the
// inline namespace makes linking the two flavours together an error instead of a surprise.
#ifdef XTAPE_DOUBLE
#define XTAPE_DTYPE f64
#else
#define XTAPE_DTYPE f32
#endif

namespace xtape {

using index_t = std::int64_t;

/// data + by; null for null: what is empty has no place to count from.
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

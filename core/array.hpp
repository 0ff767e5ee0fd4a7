// The array types, and the only place that includes xtensor's container header.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/pool.hpp>

// Every array takes its memory from the pool. This also makes the container types independent of -march and xsimd.
#if defined(XTENSOR_ARRAY_HPP) || defined(XTENSOR_FORWARD_HPP)
static_assert(false, "include xtape before any xtensor header: it sets xtensor's default allocator");
#endif
#define XTENSOR_DEFAULT_ALLOCATOR(T) ::xtape::PoolAllocator<T>

#include <xtensor/xarray.hpp>

// xtensor 0.24 gives evaluated temporaries of dynamic shape the type xarray only if __cplusplus is exactly 201703L; in
// C++20 GCC would make them xtensor<T,4>, which writes out of bounds. This is the missing specialization; 0.25 has it.
#if XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR < 25 && defined(__GNUC__) && !defined(__clang__) && \
    __cplusplus > 201703L
namespace xt::detail {
template <template <class, std::size_t, class, bool> class S, class X, std::size_t N, class A, bool Init>
struct xtype_for_shape<S<X, N, A, Init>> {
  template <class T, layout_type L>
  using type = xarray<T, L>;
};
}  // namespace xt::detail
#endif

namespace xtape {

using IndexArray = xt::xarray<index_t, xt::layout_type::row_major>;  ///< token ids, class numbers, argmax results
using Mask = xt::xarray<bool, xt::layout_type::row_major>;           ///< true: hidden

/// Whether an optional mask or array of indices is given. `{}`, which means "not given", is a scalar of false or 0 to
/// xtensor; any other scalar counts as given, so that the check of its shape refuses it.
template <class A>
bool is_given(const A& x) {
  return x.dimension() > 0 || (x.size() == 1 && *x.data() != typename A::value_type{});
}

inline namespace XTAPE_DTYPE {

using Array = xt::xarray<real, xt::layout_type::row_major>;

static_assert(std::is_same_v<xt::temporary_type_t<decltype(std::declval<Array&>() + std::declval<Array&>())>, Array>,
              "a sum of two arrays must evaluate to an array of dynamic shape");

}  // namespace XTAPE_DTYPE
}  // namespace xtape

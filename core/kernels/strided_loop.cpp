#include <xtape/core/kernels/strided_loop.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

StridedLoop strided_loop(std::initializer_list<index_t> sizes, std::initializer_list<index_t> strides) {
  StridedLoop out;
  out.rank = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), out.size);
  std::copy(strides.begin(), strides.end(), out.stride);
  return out;
}

index_t row_count(const StridedLoop& loop) {
  index_t count = 1;
  for (int i = 0; i + 1 < loop.rank; ++i) count *= loop.size[i];
  return count;
}

StridedLoop coalesced(const StridedLoop& loop) {
  StridedLoop out;
  for (int i = 0; i < loop.rank; ++i) {
    if (loop.size[i] == 1) continue;
    const int last = out.rank - 1;
    if (last >= 0 && out.stride[last] == loop.stride[i] * loop.size[i] &&
        out.stride_b[last] == loop.stride_b[i] * loop.size[i]) {
      out.size[last] *= loop.size[i];
      out.stride[last] = loop.stride[i];
      out.stride_b[last] = loop.stride_b[i];
    } else {
      out.size[out.rank] = loop.size[i];
      out.stride[out.rank] = loop.stride[i];
      out.stride_b[out.rank] = loop.stride_b[i];
      ++out.rank;
    }
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.size[0] = 1;
    out.stride[0] = out.stride_b[0] = 1;
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

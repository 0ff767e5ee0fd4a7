#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

index_t row_count(const Walk& walk) {
  index_t count = 1;
  for (int i = 0; i + 1 < walk.rank; ++i) count *= walk.extent[i];
  return count;
}

Walk joined(const Walk& walk) {
  Walk out;
  for (int i = 0; i < walk.rank; ++i) {
    if (walk.extent[i] == 1) continue;
    const int last = out.rank - 1;
    if (last >= 0 && out.stride[last] == walk.stride[i] * walk.extent[i] &&
        out.stride_b[last] == walk.stride_b[i] * walk.extent[i]) {
      out.extent[last] *= walk.extent[i];
      out.stride[last] = walk.stride[i];
      out.stride_b[last] = walk.stride_b[i];
    } else {
      out.extent[out.rank] = walk.extent[i];
      out.stride[out.rank] = walk.stride[i];
      out.stride_b[out.rank] = walk.stride_b[i];
      ++out.rank;
    }
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.extent[0] = 1;
    out.stride[0] = out.stride_b[0] = 1;
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels

#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/registers.hpp>

void transpose(const real* from, index_t from_stride, index_t next, real* to, index_t to_stride) {
  for (index_t j = 0; j < kSquare; ++j) __builtin_prefetch(from + next + j * from_stride);
  for (index_t j = 0; j < kSquare; j += kWidth)
    for (index_t i = 0; i < kSquare; i += kWidth)
      transpose_square(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride);
}

}  // namespace

const ShapeTable shape_table = {transpose};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

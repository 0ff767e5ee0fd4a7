// Matrix multiplication: every product of the library comes here. Row-major.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/core/kernels/scratch.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// c = alpha a b + beta c + bias with a [m, k], b [k, n] (after any transposition) and c [m, n]. Large products are
/// shared among threads. The order of each sum depends on the shape alone, so the bits do not depend on the number of
/// threads.
void gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue = {}, CausalSkip skip = {});

struct GemmProblem;

/// B [k, n], packed once into the order in which gemm reads it, for use in many products.
class PackedMatrix {
 public:
  PackedMatrix(MatrixView b, index_t k, index_t n);

  index_t k() const { return k_; }
  index_t n() const { return n_; }

 private:
  friend void multiply_rows(const GemmProblem& p, const PackedMatrix& b, index_t column, PrefetchRegion next);

  index_t k_, n_;
  index_t depth_;  // rows of b in one block along k
  Scratch<real> panels_;
};

/// With the first k rows and n columns of b, on the calling thread.
void gemm(GemmShape shape, MatrixView a, const PackedMatrix& b, MatrixOut c, Epilogue epilogue = {},
          CausalSkip skip = {});

}  // namespace xtape::inline XTAPE_DTYPE::kernels

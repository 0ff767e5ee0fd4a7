// What this machine can do at most, by loops that do nothing else. All use the threads that xtape uses.
#pragma once

#include <cstdint>

namespace bench {

/// GFLOP/s of fused multiply-adds on registers alone, with the widest ones that the processor has.
double peak_gflops();

/// GB/s of a[i] = b[i] + s c[i] over three arrays of together `bytes`, again and again. A write counts twice: the
/// processor fetches what it will overwrite.
double triad_gbytes(std::int64_t bytes);

/// GB/s of a sum over one array of `bytes`.
double read_gbytes(std::int64_t bytes);

}  // namespace bench

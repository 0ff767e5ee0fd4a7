// Measures peak arithmetic rate and memory bandwidth of this machine. All loops use as many threads as xtape.
#pragma once

#include <cstdint>

namespace bench {

/// GFLOP/s of fused multiply-adds in registers, with the widest registers of the processor.
double peak_gflops();

/// GB/s of repeated a[i] = b[i] + s c[i] over three arrays that together take `bytes`. A write counts twice, because
/// the processor reads a cache line before it overwrites it.
double triad_gbytes(std::int64_t bytes);

/// GB/s of a sum over one array of `bytes`.
double read_gbytes(std::int64_t bytes);

}  // namespace bench

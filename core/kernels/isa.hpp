// The instruction set in use.
#pragma once

#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// The loops for the best instruction set that the processor supports, or for the one that the environment variable
/// XTAPE_ISA names (plain, v3 or v4) if the processor supports it. Chosen at the first call.
const Isa& isa();

}  // namespace xtape::inline XTAPE_DTYPE::kernels

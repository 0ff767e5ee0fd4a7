#include <xtape/core/kernels/levels/levels.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL {

extern const ElementwiseTable elementwise;
extern const ReduceTable reduce;
extern const SoftmaxTable softmax_table;
extern const NormTable norm;
extern const OptimizeTable optimize;
extern const GemmTable gemm_table;
extern const RecurrentTable recurrent;

extern const Level level;
const Level level = {XTAPE_LEVEL_NAME, elementwise, reduce, softmax_table, norm, optimize, gemm_table, recurrent};

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL

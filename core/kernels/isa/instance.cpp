#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {

extern const UnaryTable unary;
extern const ElementwiseTable elementwise;
extern const SelectTable select_table;
extern const ReduceTable reduce;
extern const SoftmaxTable softmax_table;
extern const LossTable loss_table;
extern const LayerNormTable layer_norm_table;
extern const BatchNormTable batch_norm_table;
extern const ShapeTable shape;
extern const OptimTable optim;
extern const GemmTable gemm_table;
extern const RecurrentTable recurrent;
extern const AttentionTable attention_table;
extern const LinearAttentionTable linear_attention_table;
extern const ScoreAttentionTable score_attention;

extern const Isa isa;
const Isa isa = {XTAPE_ISA_NAME, unary,      elementwise,      select_table,     reduce,
                 softmax_table,  loss_table, layer_norm_table, batch_norm_table, shape,
                 optim,          gemm_table, recurrent,        attention_table,  linear_attention_table,
                 score_attention};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

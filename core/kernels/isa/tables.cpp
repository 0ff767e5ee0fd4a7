#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {

extern const UnaryTable unary_table;
extern const ArithmeticTable arithmetic_table;
extern const MaskTable mask_table;
extern const ReduceTable reduce_table;
extern const SoftmaxTable softmax_table;
extern const LossTable loss_table;
extern const LayerNormTable layer_norm_table;
extern const BatchNormTable batch_norm_table;
extern const ShapeTable shape_table;
extern const OptimTable optim_table;
extern const GemmTable gemm_table;
extern const RecurrentTable recurrent_table;
extern const AttentionTable attention_table;
extern const LinearAttentionTable linear_attention_table;
extern const ScoreAttentionTable score_attention_table;

extern const Isa isa;
const Isa isa = {.name = XTAPE_ISA_NAME,
                 .unary = unary_table,
                 .arithmetic = arithmetic_table,
                 .mask = mask_table,
                 .reduce = reduce_table,
                 .softmax = softmax_table,
                 .loss = loss_table,
                 .layer_norm = layer_norm_table,
                 .batch_norm = batch_norm_table,
                 .shape = shape_table,
                 .optim = optim_table,
                 .gemm = gemm_table,
                 .recurrent = recurrent_table,
                 .attention = attention_table,
                 .linear_attention = linear_attention_table,
                 .score_attention = score_attention_table};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE

#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {

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

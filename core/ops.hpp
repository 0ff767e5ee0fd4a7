// All ops.
#pragma once

#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/attention.hpp>
#include <xtape/core/ops/batch_norm.hpp>
#include <xtape/core/ops/cached_attention.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/einsum.hpp>
#include <xtape/core/ops/indexing.hpp>
#include <xtape/core/ops/layer_norm.hpp>
#include <xtape/core/ops/linear_attention.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/recurrent.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/rotary.hpp>
#include <xtape/core/ops/score_attention.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/core/ops/unary.hpp>

// Everything a training script needs.
#pragma once

#include <xtape/core/kernels/threads.hpp>
#include <xtape/core/ops.hpp>
#include <xtape/core/param_store.hpp>
#include <xtape/core/tape.hpp>
#include <xtape/data/text.hpp>
#include <xtape/inspect/run_log.hpp>
#include <xtape/models/char_rnn.hpp>
#include <xtape/models/generate.hpp>
#include <xtape/models/transformer_lm.hpp>
#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/rms_norm.hpp>
#include <xtape/optim/accumulate.hpp>
#include <xtape/optim/adam.hpp>
#include <xtape/optim/averaged_sgd.hpp>
#include <xtape/optim/clip.hpp>
#include <xtape/optim/schedule.hpp>
#include <xtape/optim/sgd.hpp>
#include <xtape/train/base/args.hpp>
#include <xtape/train/base/program.hpp>
#include <xtape/train/checkpoints.hpp>
#include <xtape/train/evaluate.hpp>
#include <xtape/train/weights.hpp>

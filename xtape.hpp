// Everything a training script needs.
#pragma once

#include <xtape/core/kernels/threads.hpp>
#include <xtape/core/ops.hpp>
#include <xtape/core/param_store.hpp>
#include <xtape/core/tape.hpp>
#include <xtape/data/text.hpp>
#include <xtape/models/transformer_lm.hpp>
#include <xtape/optim/adam.hpp>
#include <xtape/optim/clip.hpp>
#include <xtape/optim/schedule.hpp>

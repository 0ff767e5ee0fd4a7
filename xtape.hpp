// Everything a training script needs.
#pragma once

#include <xtape/core/ops.hpp>
#include <xtape/core/tape.hpp>

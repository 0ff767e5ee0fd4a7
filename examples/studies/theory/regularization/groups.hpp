// The claims about weight decay and regularization, one function for each file.
#pragma once

#include "studies/common/arrays.hpp"
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/xtape.hpp>

namespace xtape::theory {

void decay(Report& report);         ///< W1, W2, W3 on noise
void real_decay(Report& report);    ///< W3 on a language model
void purification(Report& report);  ///< W4

}  // namespace xtape::theory

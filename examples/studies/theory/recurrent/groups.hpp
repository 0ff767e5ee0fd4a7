// The claims about recurrent networks, one function for each file.
#pragma once

#include "studies/common/arrays.hpp"
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/inspect/measure/jacobian.hpp>
#include <xtape/xtape.hpp>

#include <functional>

namespace xtape::theory {

void states(Report& report);     ///< R1, R2, R3
void gates(Report& report);      ///< R4, R5
void remedies(Report& report);   ///< R6
void look_back(Report& report);  ///< R5's gradients on a task of long lags, R7

}  // namespace xtape::theory

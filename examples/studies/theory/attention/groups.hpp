// The claims about attention, one function for each file.
#pragma once

#include "studies/common/arrays.hpp"
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/core/ops/shape.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/inspect/measure/jacobian.hpp>
#include <xtape/xtape.hpp>

namespace xtape::theory {

/// x [T, D] as the one head of one sequence [1, 1, T, D].
inline Tensor head(const Array& x) {
  return reshape(x, {1, 1, static_cast<index_t>(x.shape(0)), static_cast<index_t>(x.shape(1))});
}

inline double dot_of(const Array& a, const Array& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += a.data()[i] * b.data()[i];
  return out;
}

void scores(Report& report);           ///< A1, A2
void counts(Report& report);           ///< A3, A13
void linear_kinds(Report& report);     ///< A4, A5, A6
void random_features(Report& report);  ///< A7, A8
void hard(Report& report);             ///< A9, A10
void layers(Report& report);           ///< A11, A12, A14
void trainings(Report& report);        ///< A2, A5 on tasks
void patterns(Report& report);         ///< A15

}  // namespace xtape::theory

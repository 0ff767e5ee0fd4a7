// Compares an op with its reference: the correct result if there is one, else a typed error.
#pragma once

#include "reference.hpp"

#include <xtape/core/ops.hpp>
#include <xtape/core/tape.hpp>

#include <set>
#include <string>

namespace xtape::fuzz {

Shape shape_of(const Dimensions& shape);
Array array_of(const Plain& x);
IndexArray indices_of(const Plain& x);
Mask mask_of(const Plain& x);

using TensorOp = std::function<Tensor(const std::vector<Tensor>&)>;

/// Runs an op without a tape and on a tape, and compares its value with `want`; if there is no `want`, the op must
/// throw a typed error. On the tape it also computes the gradients, which must have the shapes of their operands.
/// Faults are reported under `name`, whose first word is the name of the function.
void check(const std::string& name, const std::vector<Plain>& operands, const TensorOp& op,
           const std::optional<Plain>& want);

/// Like check, for a result that is not a tensor: indices or masks, as numbers.
void check_plain(const std::string& name, const std::function<Plain()>& op, const std::optional<Plain>& want);

template <class ArrayLike>
Plain plain_of(const ArrayLike& array) {
  Plain out{Dimensions(array.shape().begin(), array.shape().end()), {}};
  for (std::size_t i = 0; i < array.size(); ++i) out.values.push_back(static_cast<double>(array.data()[i]));
  return out;
}

// The families of ops. Each function tries one op, selected by the choices.
void try_attention(Choices& choices);
void try_elementwise(Choices& choices);
void try_heads(Choices& choices);
void try_loss(Choices& choices);
void try_normalized(Choices& choices);
void try_product(Choices& choices);
void try_recurrent(Choices& choices);
void try_reduction(Choices& choices);
void try_selection(Choices& choices);
void try_shape(Choices& choices);

/// All families.
inline constexpr void (*kFamilies[])(Choices&) = {try_elementwise, try_reduction, try_shape,     try_product,
                                                  try_selection,   try_loss,      try_attention, try_recurrent,
                                                  try_normalized,  try_heads};

/// What gave a correct result at least once in this process: functions by name, and the ops that they recorded.
struct Tried {
  std::set<std::string> functions, recorded;
};
const Tried& tried();

}  // namespace xtape::fuzz

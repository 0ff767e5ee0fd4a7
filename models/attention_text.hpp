// Attention weights as a table of characters.
#pragma once

#include <xtape/core/shape.hpp>

#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// One line for each query with a digit for each key, the tenths of the weight rounded down: "." for 0, "9" for 0.9 and
/// more, "?" for NaN, -0.1 and less. Above them a line with the names of the keys. weights [T, S], or [1, T, S];
/// `queries` T names, `keys` one character for each of S. Throws ShapeError if the numbers do not match.
std::string attention_text(const Array& weights, const std::vector<std::string>& queries, const std::string& keys);

}  // namespace xtape::inline XTAPE_DTYPE

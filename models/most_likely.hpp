// The most likely of several classes or tokens.
#pragma once

#include <xtape/core/tensor.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Index of the largest logit; of equal ones the first. NaN counts as minus infinity. Throws ValueError, in the name of
/// `op`, unless the largest logit is finite: softmax has no value then, so that no index is an answer.
index_t most_likely(std::span<const double> logits, std::string_view op = "most_likely");

/// The same for each row of logits [..., C], in row-major order. Throws ShapeError for a scalar.
std::vector<index_t> most_likely_of_rows(const Tensor& logits);

}  // namespace xtape::inline XTAPE_DTYPE

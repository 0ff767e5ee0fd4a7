#include <xtape/core/error.hpp>
#include <xtape/models/most_likely.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

index_t most_likely(std::span<const double> logits, std::string_view op) {
  if (logits.empty()) throw ValueError(op, "a distribution over at least 1 class", 0);
  const auto less = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; };
  const auto largest = std::max_element(logits.begin(), logits.end(), less);
  if (!std::isfinite(*largest))
    throw ValueError(op, "a finite largest of " + std::to_string(logits.size()) + " logits", *largest);
  return largest - logits.begin();
}

std::vector<index_t> most_likely_of_rows(const Tensor& logits) {
  const index_t classes = logits.size(-1);
  if (classes == 0) throw ValueError("most_likely", "a distribution over at least 1 class", 0);
  std::vector<index_t> out;
  for (index_t row = 0; row * classes < logits.numel(); ++row) {
    const real* first = logits.data() + row * classes;
    out.push_back(most_likely(std::vector<double>(first, first + classes)));
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

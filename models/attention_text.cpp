#include <xtape/core/error.hpp>
#include <xtape/models/attention_text.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

std::string attention_text(const Array& weights, const std::vector<std::string>& queries, const std::string& keys) {
  const Shape expected = {std::ssize(queries), std::ssize(keys)}, shape = weights.shape();
  if (shape.rank() < 2 || Shape(shape.end() - 2, shape.end()) != expected ||
      weights.size() != queries.size() * keys.size())
    throw ShapeError("attention_text", "weights of shape " + shape_text(expected), weights.shape());
  constexpr std::size_t kMargin = 10;
  std::string out(kMargin, ' ');
  for (char key : keys) (out += ' ') += key;
  for (std::size_t t = 0; t < queries.size(); ++t) {
    out += '\n' + std::string(kMargin - std::min(kMargin, queries[t].size()), ' ') + queries[t];
    for (std::size_t s = 0; s < keys.size(); ++s) {
      const real tenths = std::trunc(10 * weights.data()[t * keys.size() + s]);
      (out += ' ') += (tenths >= 0 ? ".123456789"[static_cast<std::size_t>(std::min<real>(tenths, 9))] : '?');
    }
  }
  return out + '\n';
}

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

ReductionRows reduced_axes_last(const char* op, const Tensor& x, const Axes& axes, bool keep_dims) {
  const Axes reduced = normalize_axes(op, axes, x.shape());
  ReductionRows out{x, 1, 1, {}};
  Axes order;
  bool in_place = true;
  for (index_t i = 0; i < x.rank(); ++i) {
    const bool kept = !std::binary_search(reduced.begin(), reduced.end(), i);
    (kept ? out.rows : out.width) *= x.shape()[i];
    if (kept) order.push_back(i);
    if (kept || keep_dims) out.shape.push_back(kept ? x.shape()[i] : 1);
    in_place = in_place && (!kept || std::ssize(order) == i + 1);
  }
  if (in_place) return out;
  order.insert(order.end(), reduced.begin(), reduced.end());
  out.x = permute(x, order);
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

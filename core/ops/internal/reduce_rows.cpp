#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

ReductionRows reduced_axes_last(const char* op, const Tensor& x, const Axes& axes, bool keep_dims) {
  const std::vector<std::size_t> reduced = normalize_axes(op, axes, x.shape());
  ReductionRows out{x, 1, 1, {}};
  Axes order;
  bool in_place = true;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool kept = !std::binary_search(reduced.begin(), reduced.end(), i);
    (kept ? out.rows : out.width) *= static_cast<index_t>(x.shape()[i]);
    if (kept) order.push_back(static_cast<index_t>(i));
    if (kept || keep_dims) out.shape.push_back(kept ? x.shape()[i] : 1);
    in_place = in_place && (!kept || order.size() == i + 1);
  }
  if (in_place) return out;
  order.insert(order.end(), reduced.begin(), reduced.end());
  out.x = permute(x, order);
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

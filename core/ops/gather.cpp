#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/elementwise.hpp>
#include <xtape/core/ops/gather.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

Tensor embedding(const Tensor& weight, const IndexArray& ids, index_t padding) {
  if (weight.rank() != 2) fail_shapes<Shape>("embedding", "the weight must be a matrix", {weight.shape()});
  const index_t vocabulary = weight.extent(0), width = weight.extent(1);
  for (index_t id : ids)
    if (id < 0 || id >= vocabulary)
      throw IndexError("embedding", "id " + std::to_string(id) + " is outside 0.." + std::to_string(vocabulary - 1));
  Shape shape(ids.shape().begin(), ids.shape().end());
  shape.push_back(static_cast<std::size_t>(width));
  element_count(shape, "embedding");
  Array y(shape);
  const index_t* id = ids.data();
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::copy_n(weight.data() + id[i] * width, width, y.data() + static_cast<index_t>(i) * width);
  return Tape::record("embedding", {weight}, Tensor(std::move(y)),
                      [ids, padding, width, total = weight.size()](const Array& dy, Grads& g) {
                        const Destination to = g.buffer(0);
                        if (!to.accumulate) kernels::fill(to.data, 0, total);
                        const index_t* row = ids.data();
                        for (std::size_t i = 0; i < ids.size(); ++i) {
                          if (row[i] == padding) continue;
                          kernels::scaled(dy.data() + static_cast<index_t>(i) * width, 1, to.data + row[i] * width,
                                          true, width);
                        }
                      });
}

GradCases gather_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array weight = sample({5, 3}, 71);
  const IndexArray ids = {{0, 1, 1, 4}, {2, 1, 0, 0}};
  return {
      {"embedding", "repeated rows", {weight}, [ids](Args a) { return embedding(a[0], ids); }},
  };
}

}  // namespace xtape::inline XTAPE_FLAVOUR

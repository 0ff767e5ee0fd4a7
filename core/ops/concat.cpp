#include <xtape/core/error.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Where a part lies in the joined array: `outer` blocks of `part_size` elements, `joined_size` apart, from element
/// `offset` on.
struct PartPlace {
  index_t outer, part_size, joined_size, offset;

  kernels::StridedLoop loop() const { return kernels::strided_loop({outer, part_size}, {joined_size, 1}); }
};

/// The parts joined into `shape`; each part and the result consist of the same number `outer` of blocks.
Tensor join(const char* op, const std::vector<Tensor>& parts, const Shape& shape, index_t outer) {
  Array y = empty_array(shape);
  const index_t joined_size = outer ? numel(y) / outer : 0;
  std::vector<PartPlace> places;
  index_t offset = 0;
  for (const Tensor& part : parts) {
    const index_t size = outer ? part.numel() / outer : 0;
    places.push_back({outer, size, joined_size, offset});
    kernels::copy_to_strided(places.back().loop(), part.data(), {offset_pointer(y.data(), offset)});
    offset += size;
  }
  const std::vector<Operand> operands(parts.begin(), parts.end());
  return Tape::record(
      op, std::span<const Operand>(operands), Tensor(std::move(y)), [places](const Array& dy, Grads& g) {
        for (std::size_t i = 0; i < places.size(); ++i) {
          if (!g.needs(i)) continue;
          kernels::copy_from_strided(places[i].loop(), offset_pointer(dy.data(), places[i].offset), g.buffer(i));
        }
      });
}

}  // namespace

Tensor concat(const std::vector<Tensor>& parts, index_t axis) {
  if (parts.empty()) throw ValueError("concat", "at least one tensor", "none");
  Shape shape = parts[0].shape();
  const index_t at = normalize_axis("concat", axis, shape);
  const index_t outer = around_axis(shape, at).outer;
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    if (other.rank() == shape.rank()) other[at] = shape[at];
    if (other != shape)
      throw ShapeError("concat", shape_text(parts[0].shape()) + " except for axis " + std::to_string(at), part.shape());
    shape[at] += part.shape()[at];
  }
  element_count(shape, "concat");
  return join("concat", parts, shape, outer);
}

Tensor stack(const std::vector<Tensor>& parts, index_t axis) {
  if (parts.empty()) throw ValueError("stack", "at least one tensor", "none");
  for (const Tensor& part : parts) check_shape("stack", "tensors", part.shape(), parts[0].shape());
  const Shape shape = insert_axis("stack", parts[0].shape(), axis, std::ssize(parts));
  element_count(shape, "stack");
  return join("stack", parts, shape, around_axis(shape, normalize_axis("stack", axis, shape)).outer);
}

std::vector<Tensor> split(const Tensor& x, index_t size, index_t axis) {
  if (size < 1) throw ValueError("split", "pieces of at least 1", size);
  const index_t whole = x.shape()[normalize_axis("split", axis, x.shape())];
  Axes sizes = {std::min(size, whole)};  // of an empty axis, too
  for (index_t begin = size; begin < whole; begin += size) sizes.push_back(std::min(size, whole - begin));
  return split_with_sizes(x, sizes, axis);
}

std::vector<Tensor> split_with_sizes(const Tensor& x, const Axes& sizes, index_t axis) {
  const index_t whole = x.shape()[normalize_axis("split", axis, x.shape())];
  index_t rest = whole;
  for (index_t size : sizes) rest = size < 0 || size > rest ? -1 : rest - size;
  if (rest != 0) throw ValueError("split", "sizes of at least 0 that add up to " + std::to_string(whole), sizes);
  std::vector<Tensor> parts;
  index_t begin = 0;
  for (index_t size : sizes) {
    parts.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

}  // namespace xtape::inline XTAPE_DTYPE

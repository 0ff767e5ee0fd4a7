// Reading and adding by index. Letters: V rows, C columns of an embedding.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

constexpr index_t kNoPaddingIndex = -1;

/// Row ids[i] of weight [V, C] for every id: ids of any shape -> ids.shape + [C]. The gradients of a row that occurs
/// several times are added; the row `padding_index` gets no gradient. Throws ShapeError, or IndexError for an id or a
/// padding index outside 0..V-1.
Tensor embedding(const Tensor& weight, const IndexArray& ids, index_t padding_index = kNoPaddingIndex);

/// y[i][j][k] = x[index[i][j][k]][j][k] for axis 0, x[i][index[i][j][k]][k] for axis 1, and so on. The index has as
/// many axes as x, also if it is empty, and no larger sizes except along `axis`; the result has its shape. The
/// gradients of an element that occurs several times are added. Throws ShapeError, or IndexError for an index outside
/// the axis.
Tensor gather(const Tensor& x, index_t axis, const IndexArray& index);

/// x with source[i][j][k] added at [index[i][j][k]][j][k] for axis 0, at [i][index[i][j][k]][k] for axis 1, and so on;
/// an index may repeat. Source and index have one shape (PyTorch lets the source be larger), which fits x as in
/// `gather`. Throws ShapeError, or IndexError for an index outside the axis.
Tensor scatter_add(const Tensor& x, index_t axis, const IndexArray& index, const Tensor& source);

}  // namespace xtape::inline XTAPE_DTYPE

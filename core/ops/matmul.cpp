#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/shape.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::gemm;
using kernels::MatrixOut;
using kernels::MatrixView;

/// How the leading axes broadcast: one product for each entry of `a` and `b` (element offsets).
struct Batch {
  index_t m, n, k;
  std::vector<index_t> a, b;
  bool a_repeats = false, b_repeats = false;  // a stored matrix is used in several products, or in none
  Shape shape;                                // of the result
};

/// Element offsets of each batch entry of one operand, in the order of the result.
std::vector<index_t> batch_offsets(const Shape& operand, const Shape& lead, index_t matrix) {
  std::vector<index_t> strides(lead.rank());
  const Shape operand_lead(operand.begin(), operand.end() - 2);
  broadcast_strides(operand_lead, lead.rank(), strides.data());
  std::vector<index_t> offsets = {0};
  for (index_t axis = 0; axis < lead.rank(); ++axis) {
    std::vector<index_t> next;
    for (index_t base : offsets)
      for (index_t i = 0; i < lead[axis]; ++i) next.push_back(base + i * strides[axis] * matrix);
    offsets = std::move(next);
  }
  return offsets;
}

Batch plan(const Shape& a, const Shape& b, MatmulOptions o) {
  const auto size = [](const Shape& s, index_t from_end) { return s.end()[-from_end]; };
  Batch p;
  p.m = size(a, o.transpose_a ? 1 : 2);
  p.k = size(a, o.transpose_a ? 2 : 1);
  p.n = size(b, o.transpose_b ? 2 : 1);
  if (p.k != size(b, o.transpose_b ? 1 : 2)) throw ShapeError("matmul", "operands of one inner size", a, b);
  const bool collapses = b.rank() == 2 && !o.transpose_a;  // one tall product instead of many
  if (collapses) {
    p.shape = a;
    p.shape.back() = p.n;
    for (index_t i = 0; i + 2 < a.rank(); ++i) p.m *= a[i];
    p.a = p.b = {0};
    element_count(p.shape, "matmul");
    return p;
  }
  const Shape lead = broadcast_shape("matmul", Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  p.a = batch_offsets(a, lead, p.m * p.k);
  p.b = batch_offsets(b, lead, p.k * p.n);
  const auto stored = [](const Shape& s, index_t matrix) { return matrix ? element_count(s) / matrix : 1; };
  p.a_repeats = stored(a, p.m * p.k) != std::ssize(p.a);
  p.b_repeats = stored(b, p.k * p.n) != std::ssize(p.b);
  p.shape = lead;
  p.shape.push_back(p.m);
  p.shape.push_back(p.n);
  element_count(p.shape, "matmul");
  return p;
}

/// product(i, beta) for every batch entry. Entries with the same destination are added one after the other.
template <class Product>
void for_batch(index_t entries, bool destinations_repeat, const Output& to, index_t size, const Product& product) {
  if (!destinations_repeat) {
    if (entries == 1) return product(0, to.beta());
    parallel_for(entries, [&](index_t i) { product(i, to.beta()); });
    return;
  }
  if (!to.add) kernels::fill(to.data, 0, size);
  for (index_t i = 0; i < entries; ++i) product(i, real(1));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions o) {
  if (a.rank() == 0 || b.rank() == 0) throw ShapeError("matmul", "operands of at least one axis", a.shape(), b.shape());
  if (a.rank() == 1 || b.rank() == 1) {
    if ((a.rank() == 1 && o.transpose_a) || (b.rank() == 1 && o.transpose_b))
      throw ShapeError("matmul", "no vector to transpose", a.shape(), b.shape());
    const Tensor left = a.rank() == 1 ? reshape(a, {1, a.numel()}) : a;
    const Tensor right = b.rank() == 1 ? reshape(b, {b.numel(), 1}) : b;
    const Tensor y = matmul(left, right, o);
    Shape shape(y.shape().begin(), y.shape().end() - 2);
    if (a.rank() > 1) shape.push_back(y.size(-2));
    if (b.rank() > 1) shape.push_back(y.size(-1));
    return reshape(y, shape);
  }
  const Batch p = plan(a.shape(), b.shape(), o);
  const index_t stride_a = o.transpose_a ? p.m : p.k, stride_b = o.transpose_b ? p.k : p.n;
  Array y = empty_array(p.shape);
  for_batch(std::ssize(p.a), false, {y.data()}, numel(y), [&](index_t i, real beta) {
    gemm({p.m, p.n, p.k}, {a.data() + p.a[i], stride_a, o.transpose_a}, {b.data() + p.b[i], stride_b, o.transpose_b},
         {y.data() + i * p.m * p.n, p.n}, {.beta = beta});
  });
  return Tape::record(
      "matmul", {a, b}, Tensor(std::move(y)),
      [p, o, stride_a, stride_b, a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
        const auto upstream = [&](index_t i, bool transposed) {
          return MatrixView{dy.data() + i * p.m * p.n, p.n, transposed};
        };
        if (g.needs(0)) {  // dA = dY B^T, or its transpose B dY^T where a is used transposed
          const Output to = g.buffer(0);
          for_batch(std::ssize(p.a), p.a_repeats, to, a.numel(), [&](index_t i, real beta) {
            const real* right = b.data() + p.b[i];
            const MatrixOut out{to.data + p.a[i], stride_a};
            if (o.transpose_a)
              gemm({p.k, p.m, p.n}, {right, stride_b, o.transpose_b}, upstream(i, true), out, {.beta = beta});
            else gemm({p.m, p.k, p.n}, upstream(i, false), {right, stride_b, !o.transpose_b}, out, {.beta = beta});
          });
        }
        if (g.needs(1)) {  // dB = A^T dY, or its transpose dY^T A
          const Output to = g.buffer(1);
          for_batch(std::ssize(p.b), p.b_repeats, to, b.numel(), [&](index_t i, real beta) {
            const real* left = a.data() + p.a[i];
            const MatrixOut out{to.data + p.b[i], stride_b};
            if (o.transpose_b)
              gemm({p.n, p.k, p.m}, upstream(i, true), {left, stride_a, o.transpose_a}, out, {.beta = beta});
            else gemm({p.k, p.n, p.m}, {left, stride_a, !o.transpose_a}, upstream(i, false), out, {.beta = beta});
          });
        }
      });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2 || x.rank() < 1 || x.size(-1) != weight.size(1))
    throw ShapeError("linear", "x [..., I] and a weight [O, I]", x.shape(), weight.shape());
  const index_t in = weight.size(1), out = weight.size(0);
  const index_t rows = element_count(Shape(x.shape().begin(), x.shape().end() - 1));
  if (bias.defined()) check_shape("linear", "a bias", bias.shape(), Shape{out});
  Shape shape = x.shape();
  shape.back() = out;
  element_count(shape, "linear");
  Array y = empty_array(shape);
  gemm({rows, out, in}, {x.data(), in}, {weight.data(), in, true}, {y.data(), out},
       {.bias = bias.defined() ? bias.data() : nullptr});
  return Tape::record(
      "linear", {x, weight, bias}, Tensor(std::move(y)),
      [x = x.detach(), weight = weight.detach(), rows, in, out](const Array& dy, Grads& g) {
        if (g.needs(0)) {  // dX = dY W
          const Output to = g.buffer(0);
          gemm({rows, in, out}, {dy.data(), out}, {weight.data(), in}, {to.data, in}, {.beta = to.beta()});
        }
        if (g.needs(1)) {  // dW = dY^T X
          const Output to = g.buffer(1);
          gemm({out, in, rows}, {dy.data(), out, true}, {x.data(), in}, {to.data, in}, {.beta = to.beta()});
        }
        if (g.needs(2))  // db = column sums of dY
          kernels::sum_axis(dy.data(), 1, rows, out, 1, g.buffer(2));
      });
}

namespace {
void check_vectors(const char* caller, const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || b.rank() != 1) throw ShapeError(caller, "two vectors", a.shape(), b.shape());
}
}  // namespace

Tensor dot(const Tensor& a, const Tensor& b) {
  check_vectors("dot", a, b);
  if (a.numel() != b.numel()) throw ShapeError("dot", "vectors of one length", a.shape(), b.shape());
  return matmul(a, b);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check_vectors("outer", a, b);
  return matmul(reshape(a, {a.numel(), 1}), reshape(b, {1, b.numel()}));
}

}  // namespace xtape::inline XTAPE_DTYPE

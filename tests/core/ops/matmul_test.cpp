// Matrix products and linear layers: known values, a plain triple loop over random shapes, sizes of 0 and 1, errors.
#include "core/evaluate.hpp"

#include <xtape/core/random.hpp>

#include <algorithm>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// Offset of the matrix that a batch index selects in an operand whose leading axes are broadcast.
index_t matrix_at(const Shape& operand, const std::vector<index_t>& index) {
  const index_t lead = operand.rank() - 2;
  index_t flat = 0;
  for (index_t i = 0; i < lead; ++i) {
    const index_t at = index[std::ssize(index) - lead + i];
    flat = flat * operand[i] + (operand[i] == 1 ? 0 : at);
  }
  return flat * operand[lead] * operand[lead + 1];
}

/// The product by its definition, accumulated in double.
Array by_definition(const Array& a, const Array& b, MatmulOptions o) {
  const Shape &sa = a.shape(), &sb = b.shape();
  const index_t m = sa.end()[o.transpose_a ? -1 : -2], k = sa.end()[o.transpose_a ? -2 : -1];
  const index_t n = sb.end()[o.transpose_b ? -2 : -1];
  Shape lead = broadcast_shape("test", Shape(sa.begin(), sa.end() - 2), Shape(sb.begin(), sb.end() - 2));
  Shape shape = lead;
  shape.push_back(m);
  shape.push_back(n);
  Array y = empty_array(shape);
  std::vector<index_t> index(lead.rank(), 0);
  for (index_t start = 0; start < numel(y); start += m * n) {
    const real* pa = a.data() + matrix_at(sa, index);
    const real* pb = b.data() + matrix_at(sb, index);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        double total = 0;
        for (index_t p = 0; p < k; ++p)
          total += static_cast<double>(o.transpose_a ? pa[p * m + i] : pa[i * k + p]) *
                   static_cast<double>(o.transpose_b ? pb[j * k + p] : pb[p * n + j]);
        y.data()[start + i * n + j] = static_cast<real>(total);
      }
    for (index_t axis = lead.rank(); axis-- > 0;) {
      if (++index[axis] < lead[axis]) break;
      index[axis] = 0;
    }
  }
  return y;
}

}  // namespace

TEST_CASE("matrix products of known values") {
  const Tensor a = array({3, 2}, {2, 3, 5, 7, 11, 13}), t = counting({2, 3, 4});
  check_equal(matmul(a, a, {.transpose_a = true}).value(), array({2, 2}, {150, 184, 184, 227}));
  check_equal(matmul(slice(t, 0, 1), Tensor::ones({4, 2})).value(), array({1, 3, 2}, {54, 54, 70, 70, 86, 86}));
  const Tensor column = reshape(slice(t, 2, 1, 2), {2, 3});  // t[:, :, 1]
  check_equal(matmul(column, Tensor::ones({3, 2})).value(), array({2, 2}, {15, 15, 51, 51}));
  const Tensor m = counting({3, 4});
  check_equal(matmul(slice(m, 1, 0, kEnd, 2), Tensor::ones({2, 1})).value(), array({3, 1}, {2, 10, 18}));
  check_equal(matmul(slice(m, 0, 0, kEnd, 2), Tensor::ones({4, 1})).value(), array({2, 1}, {6, 38}));
}

TEST_CASE("vectors are rows on the left and columns on the right") {
  const Tensor u = row({2, 5, 11}), v = row({13, 7, 3});
  const Tensor inner = matmul(u, v);
  CHECK(inner.rank() == 0);
  CHECK(inner.item() == 94);
  check_equal(matmul(u, Tensor(counting({3, 2}))).value(), row({54, 72}));
  check_equal(matmul(Tensor(counting({2, 3})), u).value(), row({27, 81}));
  CHECK(shape_text(matmul(u, Tensor(counting({5, 3, 2}))).shape()) == "(5,2)");
  CHECK(shape_text(matmul(Tensor(counting({5, 2, 3})), u).shape()) == "(5,2)");
  check_equal(matmul(u, Tensor(counting({2, 3})), {.transpose_b = true}).value(), row({27, 81}));
}

TEST_CASE("two hundred random products agree with the definition") {
  Random random(1, "matmul shapes");
  const std::size_t sizes[] = {0, 1, 1, 2, 3, 5, 7, 8, 13, 17, 33};
  const auto size = [&] { return sizes[random.below(11)]; };
  for (int round = 0; round < 200; ++round) {
    const MatmulOptions o{random.below(2) == 1, random.below(2) == 1};
    const index_t m = size(), k = size(), n = size();
    const auto lead = static_cast<std::size_t>(random.below(3));
    Shape sa, sb;
    for (std::size_t i = 0; i < lead; ++i) {
      const index_t shared = 1 + random.below(3);
      const index_t which = random.below(3);  // 0: same leading axes; 1 and 2: one operand is broadcast
      sa.push_back(which == 1 ? 1 : shared);
      sb.push_back(which == 2 ? 1 : shared);
    }
    if (lead > 0 && random.below(3) == 0) sa = Shape(sa.begin() + 1, sa.end());
    else if (lead > 0 && random.below(3) == 0) sb = Shape(sb.begin() + 1, sb.end());
    sa.push_back(o.transpose_a ? k : m);
    sa.push_back(o.transpose_a ? m : k);
    sb.push_back(o.transpose_b ? n : k);
    sb.push_back(o.transpose_b ? k : n);
    INFO(shape_text(sa), (o.transpose_a ? " transposed" : ""), " x ", shape_text(sb),
         (o.transpose_b ? " transposed" : ""));
    const auto seed = static_cast<std::uint64_t>(round);
    const Array a = sample(sa, 2 * seed), b = sample(sb, 2 * seed + 1);
    const Limits limits{tolerance(1e-13, 1e-5), tolerance(1e-14, 3e-6)};
    const Array want = by_definition(a, b, o);
    const Array upstream = sample(want.shape(), 1000 + seed);
    const Evaluated got = evaluate([&](Inputs x) { return matmul(x[0], x[1], o); }, {a, b}, upstream);
    check_near(got.value, want, limits);
    // dA = dY B^T and dB = A^T dY, transposed if the operand was, and summed over broadcast axes.
    const Array da = o.transpose_a ? by_definition(b, upstream, {o.transpose_b, true})
                                   : by_definition(upstream, b, {false, !o.transpose_b});
    const Array db = o.transpose_b ? by_definition(upstream, a, {true, o.transpose_a})
                                   : by_definition(a, upstream, {!o.transpose_a, false});
    const Limits summed{limits.relative, 20 * limits.absolute};
    check_near(got.grads[0], sum_to_shape("test", da, sa), summed);
    check_near(got.grads[1], sum_to_shape("test", db, sb), summed);
  }
}

TEST_CASE("large products agree with the definition") {
  for (const auto& [m, k, n] : {std::array<index_t, 3>{129, 500, 65}, {64, 900, 20}, {3, 70, 400}, {300, 17, 33}}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const MatmulOptions o{(transposes & 1) != 0, (transposes & 2) != 0};
      INFO(m, " ", k, " ", n, " transposes ", transposes);
      const Array a = sample(o.transpose_a ? Shape{k, m} : Shape{m, k}, 1);
      const Array b = sample(o.transpose_b ? Shape{n, k} : Shape{k, n}, 2);
      check_near(matmul(Tensor(a), Tensor(b), o).value(), by_definition(a, b, o),
                 {tolerance(1e-12, 1e-5), tolerance(1e-12, 2e-5)});
    }
  }
}

TEST_CASE("products with inner dimension 0 are zero and give zero gradients") {
  const Evaluated inner =
      evaluate([](Inputs x) { return matmul(x[0], x[1]); }, {empty_array({2, 0}), empty_array({0, 3})});
  check_equal(inner.value, array({2, 3}, {0, 0, 0, 0, 0, 0}));
  CHECK(shape_text(inner.grads[0].shape()) == "(2,0)");
  const Evaluated batch =
      evaluate([](Inputs x) { return matmul(x[0], x[1]); }, {counting({1, 2, 3}), empty_array({0, 3, 4})});
  CHECK(shape_text(batch.value.shape()) == "(0,2,4)");
  check_equal(batch.grads[0], array({1, 2, 3}, {0, 0, 0, 0, 0, 0}));
  const Evaluated left =
      evaluate([](Inputs x) { return matmul(x[0], x[1]); }, {empty_array({0, 2, 3}), counting({1, 3, 4})});
  check_equal(left.grads[1], Tensor::zeros({1, 3, 4}).value());
}

TEST_CASE("matmul refuses operands that do not match") {
  const Tensor a = counting({2, 3}), b = counting({4, 2});
  check_throws<ShapeError>([&] { (void)matmul(a, b); },
                           "[matmul] expected operands of one inner size, got (2,3) and (4,2)");
  check_throws<ShapeError>([&] { (void)matmul(a, a); }, "[matmul] expected operands of one inner size, got");
  check_throws<ShapeError>([&] { (void)matmul(a, b, {.transpose_b = true}); },
                           "[matmul] expected operands of one inner size, got");
  check_throws<ShapeError>([&] { (void)matmul(Tensor::scalar(1), a); },
                           "[matmul] expected operands of at least one axis, got ()");
  check_throws<ShapeError>([&] { (void)matmul(row({1, 2}), a, {.transpose_a = true}); },
                           "expected no vector to transpose, got");
  check_throws<ShapeError>([&] { (void)matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({3, 4, 5})); },
                           "[matmul] expected shapes that broadcast, got (2) and (3)");
  const index_t large = std::size_t{1} << 24;
  check_throws<ShapeError>([&] { (void)matmul(Tensor::zeros({large, 1}), Tensor::zeros({1, large})); },
                           "[matmul] expected at most 2^46 elements");
}

TEST_CASE("linear computes x W^T + b over any leading axes") {
  const Tensor w = array({2, 3}, {1, 2, 3, 4, 5, 6}), b = row({10, 20});
  check_equal(linear(row({1, 0, -1}), w, b).value(), row({8, 18}));
  check_equal(linear(array({2, 3}, {1, 0, 0, 0, 1, 1}), w).value(), array({2, 2}, {1, 4, 5, 11}));
  CHECK(shape_text(linear(Tensor::zeros({4, 5, 3}), w, b).shape()) == "(4,5,2)");
  check_equal(linear(Tensor::zeros({1, 1, 3}), w, b).value(), array({1, 1, 2}, {10, 20}));
}

TEST_CASE("linear with no inputs gives the bias") {
  const Evaluated got = evaluate([](Inputs x) { return linear(x[0], x[1], x[2]); },
                                 {empty_array({4, 0}), empty_array({2, 0}), row({3, 5})});
  check_equal(got.value, array({4, 2}, {3, 5, 3, 5, 3, 5, 3, 5}));
  check_equal(got.grads[2], row({4, 4}));
}

TEST_CASE("linear refuses operands that do not match") {
  const Tensor w = counting({2, 3});
  check_throws<ShapeError>([&] { (void)linear(row({1, 2}), w); },
                           "[linear] expected x [..., I] and a weight [O, I], got (2) and (2,3)");
  check_throws<ShapeError>([&] { (void)linear(row({1, 2, 3}), row({1, 2, 3})); },
                           "[linear] expected x [..., I] and a weight [O, I], got");
  check_throws<ShapeError>([&] { (void)linear(Tensor::scalar(1), w); },
                           "[linear] expected x [..., I] and a weight [O, I], got");
  check_throws<ShapeError>([&] { (void)linear(row({1, 2, 3}), w, row({1, 2, 3})); },
                           "[linear] expected a bias of shape (2), got (3)");
  check_throws<ShapeError>([&] { (void)linear(row({1, 2, 3}), w, array({1, 2}, {1, 2})); },
                           "[linear] expected a bias of shape (2), got");
}

TEST_CASE("a batch without rows passes through a whole network") {
  Parameter w("w", counting({3, 5})), b("b", row({1, 2, 3}));
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    w.zero_grad();
    b.zero_grad();
    Tape tape;
    const Tensor x = tape.variable(empty_array({0, 5}));
    const Tensor h = relu(layer_norm(linear(x, w, b)));
    CHECK(shape_text(h.shape()) == "(0,3)");
    CHECK(shape_text(softmax(h).shape()) == "(0,3)");
    const Tensor loss = cross_entropy(h, IndexArray::from_shape({0}), {.reduction = reduction});
    CHECK(loss.item() == 0);
    tape.backward(loss + sum(softmax(h)));
    check_equal(w.grad(), Tensor::zeros({3, 5}).value());
    check_equal(b.grad(), row({0, 0, 0}));
    CHECK(shape_text(tape.grad(x).shape()) == "(0,5)");
  }
}

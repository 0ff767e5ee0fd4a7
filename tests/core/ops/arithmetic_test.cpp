// Elementwise arithmetic: values, broadcasting, edges of the domain, errors. The gradient-check tables check the
// gradients at ordinary points.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

Tensor t(std::initializer_list<double> values) { return row(values); }

}  // namespace

TEST_CASE("arithmetic of equal shapes") {
  const Tensor a = array({2, 2}, {1, -2, 3, 0.5}), b = array({2, 2}, {4, 0.5, -2, 2});
  check_equal((a + b).value(), array({2, 2}, {5, -1.5, 1, 2.5}));
  check_equal((a - b).value(), array({2, 2}, {-3, -2.5, 5, -1.5}));
  check_equal((a * b).value(), array({2, 2}, {4, -1, -6, 1}));
  check_equal((a / b).value(), array({2, 2}, {0.25, -4, -1.5, 0.25}));
  check_equal((-a).value(), array({2, 2}, {-1, 2, -3, -0.5}));
  check_near(pow(t({2, 4, 9}), t({3, 0.5, -0.5})).value(), row({8, 2, 1.0 / 3}));
}

TEST_CASE("arithmetic of tensors and numbers") {
  const Tensor x = t({1, -2, 4});
  const real two = 2;
  check_equal((x + two).value(), row({3, 0, 6}));
  check_equal((two + x).value(), row({3, 0, 6}));
  check_equal((x - two).value(), row({-1, -4, 2}));
  check_equal((two - x).value(), row({1, 4, -2}));
  check_equal((x * two).value(), row({2, -4, 8}));
  check_equal((two * x).value(), row({2, -4, 8}));
  check_equal((x / two).value(), row({0.5, -1, 2}));
  check_equal((two / x).value(), row({2, -1, 0.5}));
  check_equal(affine(x, real(-0.5), real(3)).value(), row({2.5, 4, 1}));
}

TEST_CASE("broadcasting agrees with NumPy") {
  const Tensor column = array({2, 1}, {10, 20}), vector = t({1, 2, 3});
  check_equal((column + vector).value(), array({2, 3}, {11, 12, 13, 21, 22, 23}));
  check_equal((vector - column).value(), array({2, 3}, {-9, -8, -7, -19, -18, -17}));
  const Tensor cube = array({2, 1, 2}, {1, 2, 3, 4}), matrix = array({3, 1}, {10, 20, 30});
  check_equal((cube * matrix).value(), array({2, 3, 2}, {10, 20, 20, 40, 30, 60, 30, 40, 60, 80, 90, 120}));
  const Tensor scalar = array({}, {5}), one = array({1, 1, 1}, {5});
  CHECK((vector + scalar).rank() == 1);
  CHECK((scalar + scalar).rank() == 0);
  CHECK(shape_text((vector + one).shape()) == "(1,1,3)");
  CHECK(shape_text((one + scalar).shape()) == "(1,1,1)");
}

TEST_CASE("broadcasting over every combination of axes agrees with a plain loop") {
  const index_t full[] = {3, 4, 2};
  for (int keep_a = 0; keep_a < 8; ++keep_a) {
    for (int keep_b = 0; keep_b < 8; ++keep_b) {
      Shape sa = {1, 1, 1}, sb = sa;
      for (int i = 0; i < 3; ++i) {
        if (keep_a >> i & 1) sa[i] = full[i];
        if (keep_b >> i & 1) sb[i] = full[i];
      }
      const Array a = sample(sa, 1), b = sample(sb, 2);
      const Array y = (Tensor(a) - Tensor(b)).value();
      Array want = empty_array(broadcast_shape("test", sa, sb));
      for (std::size_t i = 0; i < want.shape()[0]; ++i)
        for (std::size_t j = 0; j < want.shape()[1]; ++j)
          for (std::size_t k = 0; k < want.shape()[2]; ++k)
            want(i, j, k) = a(i % sa[0], j % sa[1], k % sa[2]) - b(i % sb[0], j % sb[1], k % sb[2]);
      check_equal(y, want);
    }
  }
}

TEST_CASE("gradients of broadcast operands have the operands' shapes") {
  Array a = empty_array({2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) a.data()[i] = static_cast<real>(i);
  const Evaluated got = evaluate([](Inputs x) { return sum(x[0] * x[1] * x[2] + x[3]); },
                                 {a, Tensor::ones({3, 1}).value(), array({}, {1}), row({0, 0, 0, 0})});
  check_equal(got.grads[1], array({3, 1}, {60, 92, 124}));
  check_equal(got.grads[2], array({}, {276}));
  check_equal(got.grads[3], row({6, 6, 6, 6}));
  check_equal(got.grads[0], Tensor::ones({2, 3, 4}).value());
}

TEST_CASE("gradients keep the shapes (1) and () apart") {
  const Evaluated got = evaluate([](Inputs x) { return x[0] * x[1]; }, {array({1}, {2}), array({}, {3})});
  check_equal(got.grads[0], array({1}, {3}));
  check_equal(got.grads[1], array({}, {2}));
}

TEST_CASE("shapes that do not broadcast are refused") {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4});
  check_throws<ShapeError>([&] { (void)(a + b); }, "[add] expected shapes that broadcast, got (2,3) and (4)");
  check_throws<ShapeError>([&] { (void)(a - b); }, "[sub] expected shapes that broadcast, got");
  check_throws<ShapeError>([&] { (void)(a * b); }, "[mul] expected shapes that broadcast, got");
  check_throws<ShapeError>([&] { (void)(a / b); }, "[div] expected shapes that broadcast, got");
  check_throws<ShapeError>([&] { (void)pow(a, b); }, "[pow] expected shapes that broadcast, got");
  check_throws<ShapeError>([&] { (void)(Tensor::zeros({0}) + Tensor::zeros({2})); }, "got (0) and (2)");
  check_throws<ValueError>([&] { (void)(a + Tensor()); }, "[tensor] this handle is empty");
}

TEST_CASE("operands of more than twelve axes do not broadcast") {
  const Shape deep = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK((Tensor::ones(deep) + Tensor::ones(deep)).rank() == 13);  // equal shapes do not use the broadcasting loop
  Shape wide = deep;
  wide[0] = 2;
  Shape other = deep;
  other[12] = 2;
  check_throws<ShapeError>([&] { (void)(Tensor::ones(wide) + Tensor::ones(other)); },
                           "[add] expected at most 12 axes, got");
}

TEST_CASE("arithmetic accepts arrays without elements") {
  const Evaluated got = evaluate([](Inputs x) { return x[0] * x[1] + x[2]; },
                                 {Tensor::zeros({0, 3}).value(), row({1, 2, 3}), array({1, 1}, {5})});
  CHECK(shape_text(got.value.shape()) == "(0,3)");
  CHECK(shape_text(got.grads[0].shape()) == "(0,3)");
  check_equal(got.grads[1], row({0, 0, 0}));
  check_equal(got.grads[2], array({1, 1}, {0}));
}

TEST_CASE("infinities and NaN follow IEEE arithmetic") {
  check_equal((t({1, -1, 0}) / t({0, 0, 0})).value(), row({kInf, -kInf, kNaN}));
  check_equal((t({kInf, kInf, kNaN}) - t({kInf, 1, 1})).value(), row({kNaN, kInf, kNaN}));
  check_equal(exp(t({-kInf, 0, kInf, kNaN, 1000, -1000})).value(), row({0, 1, kInf, kNaN, kInf, 0}));
  check_equal(log(t({0, 1, kInf, -1, kNaN})).value(), row({-kInf, 0, kInf, kNaN, kNaN}));
  check_equal(sqrt(t({0, 4, kInf, -1, kNaN})).value(), row({0, 2, kInf, kNaN, kNaN}));
}

TEST_CASE("derivatives of powers at base zero are their limits") {
  const double exponents[] = {0, 1, 2, 3, 0.5};
  const double values[] = {1, 0, 0, 0, 0}, derivatives[] = {0, 1, 0, 0, kInf};
  for (int i = 0; i < 5; ++i) {
    const Evaluated got =
        evaluate([&](Inputs x) { return pow(x[0], static_cast<real>(exponents[i])); }, {array({}, {0})});
    check_equal(got.value, array({}, {values[i]}));
    check_equal(got.grads[0], array({}, {derivatives[i]}));
  }
}

TEST_CASE("the derivative of a power by its exponent is zero at base zero") {
  const Evaluated got = evaluate([](Inputs x) { return pow(x[0], x[1]); }, {row({0, 2}), row({1, 1})});
  check_near(got.grads[1], row({0, 1.3862943611198906}));
  check_equal(got.grads[0], row({1, 1}));
}

TEST_CASE("maximum and minimum of two tensors broadcast and keep NaN") {
  const Tensor a = array({2, 1}, {1, 4}), b = row({0, 2, 5});
  check_equal(maximum(a, b).value(), array({2, 3}, {1, 2, 5, 4, 4, 5}));
  check_equal(minimum(a, b).value(), array({2, 3}, {0, 1, 1, 0, 2, 4}));
  const Tensor one_nan = row({kNaN, 1}), other_nan = row({1, kNaN});
  check_equal(maximum(one_nan, other_nan).value(), row({kNaN, kNaN}));
  check_equal(minimum(one_nan, other_nan).value(), row({kNaN, kNaN}));
  const Tensor three = row({1, 2, 3}), two = row({1, 2});
  check_throws<ShapeError>([&] { maximum(three, two); }, "[maximum] expected shapes that broadcast, got (3) and (2)");
  check_throws<ShapeError>([&] { minimum(three, two); }, "[minimum]");
}

TEST_CASE("the operand that maximum does not select gets no gradient, whatever the upstream gradient") {
  const Evaluated e =
      evaluate([](Inputs x) { return maximum(x[0], x[1]); }, {row({1, 5}), row({3, 2})}, row({kInf, kNaN}));
  check_equal(e.grads[0], row({0, kNaN}));
  check_equal(e.grads[1], row({kInf, 0}));
}

TEST_CASE("a zero upstream gradient gives zero even where the derivative is infinite") {
  const Evaluated root = evaluate([](Inputs x) { return sqrt(x[0]); }, {row({0, 0, 4})}, row({0, 1, 1}));
  check_equal(root.grads[0], row({0, kInf, 0.25}));
  const Evaluated power = evaluate([](Inputs x) { return pow(x[0], real(0.5)); }, {row({0, 0, 4})}, row({0, 1, 1}));
  check_equal(power.grads[0], row({0, kInf, 0.25}));
  const Evaluated logarithm = evaluate([](Inputs x) { return log(x[0]); }, {row({0, 0, 4})}, row({0, 1, 1}));
  check_equal(logarithm.grads[0], row({0, kInf, 0.25}));
}

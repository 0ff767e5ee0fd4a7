// Jacobians, spectral norms and zero patterns against values known by hand.
#include <xtape/inspect/measure/jacobian.hpp>

#include "core/evaluate.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a Jacobian is the matrix of partial derivatives") {
  const Array matrix = array({2, 3}, {1, 2, 3, -4, 5, 6});
  check_near(jacobian([&](const Tensor& x) { return linear(x, Tensor(matrix), {}); }, row({1, 1, 1})), matrix);
  check_near(jacobian([](const Tensor& x) { return x * x; }, row({2, -3})), array({2, 2}, {4, 0, 0, -6}));
  check_throws<TapeError>([] { jacobian([](const Tensor&) { return Tensor(row({1})); }, row({2})); }, "not tracked");
}

TEST_CASE("the spectral norm is the largest singular value") {
  check_near(spectral_norm(array({2, 2}, {3, 0, 0, -7})), 7);
  check_near(spectral_norm(array({2, 2}, {1, 1, 0, 1})), (1 + std::sqrt(5.0)) / 2);  // golden ratio
  check_near(spectral_norm(array({1, 4}, {1, 2, 3, 4})), std::sqrt(30.0));
  check_near(spectral_norm(array({2, 2, 1}, {0, 2, 0, 0})), 2);
  CHECK(spectral_norm(array({2, 2}, {0, 0, 0, 0})) == 0);
  Array orthogonal = empty_array({6, 6});
  Random random(3, "test");
  init::orthogonal(2.5)(orthogonal, random);
  check_near(spectral_norm(orthogonal), 2.5, {tolerance(1e-9, 1e-5), 0});
  check_throws<ShapeError>([] { spectral_norm(row({1, 2})); }, "expected a matrix, got ");
  check_throws<ValueError>([] { spectral_norm(array({1, 1}, {NAN})); },
                           "[spectral_norm] expected finite elements, got NaN or infinity");
}

TEST_CASE("the spectral norm follows the scale of its matrix over the whole range") {
  for (const double factor :
       kDouble ? std::vector<double>{1e-300, 1e-200, 1e200, 1e300} : std::vector<double>{1e-30, 1e30}) {
    INFO(factor);
    check_near(spectral_norm(array({2, 2}, {3 * factor, 0, 0, -7 * factor})), 7 * factor, {1e-6, 0});
    check_near(spectral_norm(array({2, 2}, {factor, factor, 0, factor})), factor * (1 + std::sqrt(5.0)) / 2, {1e-6, 0});
  }
}

TEST_CASE("norms of d h_T / d h_t of a linear network are powers of its factor") {
  // h' = 0.5 h: the norm halves each step back; h' = 3 R h with a rotation: it triples.
  const auto half = [](index_t, const Tensor& h) { return h * real(0.5); };
  const std::vector<double> falling = state_jacobian_norms(half, row({1, -2}), 10, {0, 1, 4, 10});
  for (std::size_t i = 0; i < 4; ++i)
    check_near(falling[i], std::pow(0.5, std::vector<int>{0, 1, 4, 10}[i]), {tolerance(1e-9, 1e-5), 0});
  const Array rotation = array({2, 2}, {0, -3, 3, 0});
  const auto turn = [&](index_t, const Tensor& h) { return linear(h, Tensor(rotation), {}); };
  check_near(state_jacobian_norms(turn, row({1, 1}), 5, {3}).front(), 27, {tolerance(1e-9, 1e-5), 0});
  check_throws<ValueError>([&] { state_jacobian_norms(half, row({1}), 3, {4}); }, "expected lags in 0..3, got 4");
}

TEST_CASE("lag norms of a fused layer are those of the state's Jacobian") {
  // One unit: |dh_T/dh_t| is the ratio of the gradients, and the probe's lag curve falls by the same factors.
  ParamStore store(3);
  const RNN layer(store.root() / "rnn", 1, 1);
  const Array x = sample({1, 8, 1}, 3);
  std::vector<double> norms(8);
  Tape tape;
  tape.on_step_grad(
      [&](const StepGrad& step) { norms[step.time] = std::abs(static_cast<double>(step.grad.data()[0])); });
  tape.backward(sum(slice(layer(Tensor(x)).y, 1, 7, 8)));
  const RecurrentWeights weights = layer.parameters()[0].weights();
  const auto step = [&](index_t t, const Tensor& h) {
    return rnn_cell(
        reshape(slice(Tensor(x), 1, t, t + 1), {1, 1}), h,
        {weights.weight_ih.detach(), weights.weight_hh.detach(), weights.bias_ih.detach(), weights.bias_hh.detach()});
  };
  const std::vector<double> got = state_jacobian_norms(step, array({1, 1}, {0}), 8, {1, 3, 7});
  check_near(got[0], norms[6] / norms[7], {tolerance(1e-9, 1e-5), 0});
  check_near(got[1], norms[4] / norms[7], {tolerance(1e-9, 1e-5), 0});
  check_near(got[2], norms[0] / norms[7], {tolerance(1e-9, 1e-5), 0});
}

TEST_CASE("zeros of the gradient show what is hidden") {
  const Array x = sample({1, 4, 2}, 9);
  const Mask padding = padding_mask(indices({1}, {3}), 4);
  // Keys and values beyond the padding have no influence on the queries before them.
  const auto last_output = [&](const Tensor& v) {
    const Tensor heads = reshape(v, {1, 1, 4, 2});
    const Tensor q = Tensor(sample({1, 1, 1, 2}, 10));
    return scaled_dot_product_attention(q, heads, heads, {.key_padding = padding});
  };
  const Mask zeros = gradient_zeros(last_output, x);
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t d = 0; d < 2; ++d) CHECK(zeros(0, t, d) == (t == 3));
}

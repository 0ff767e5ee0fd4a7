// The matrix product against a plain triple loop: shapes, transposes, strides, beta, sizes of 0 and 1.
#include "support.hpp"

#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/random.hpp>
#include <xtape/core/runtime.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

#include <algorithm>
#include <array>
#include <limits>

using namespace xtape;
using namespace xtape::test;
using kernels::MatrixView;

namespace {

/// A stored matrix with random elements and a gap after each row; `transposed` says how to read it.
struct Stored {
  Array numbers;
  MatrixView factor;

  Stored(index_t rows, index_t columns, bool transposed, index_t gap, std::uint64_t seed) {
    const index_t stored_rows = transposed ? columns : rows, stride = (transposed ? rows : columns) + gap;
    numbers = sample({stored_rows * stride}, seed);
    factor = {numbers.data(), stride, transposed};
  }
  double at(index_t i, index_t j) const {
    return static_cast<double>(factor.data[factor.transposed ? j * factor.stride + i : i * factor.stride + j]);
  }
};

struct Problem {
  index_t m, n, k;
  bool transpose_a, transpose_b;
  index_t gap_a, gap_b, gap_c;
  double alpha, beta;
};

/// Number of wrong elements in c: wrong products, and elements in the gaps between rows that were changed.
int wrong_elements(const Problem& p, const Stored& a, const Stored& b, const Array& before, const real* bias,
                   const Array& c) {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  const index_t stride = p.n + p.gap_c;
  int wrong = 0;
  for (index_t i = 0; i < p.m; ++i) {
    for (index_t j = 0; j < stride; ++j) {
      const double old = static_cast<double>(before.data()[i * stride + j]);
      const double got = static_cast<double>(c.data()[i * stride + j]);
      if (j >= p.n) {
        wrong += got != old;
        continue;
      }
      const double shift = bias ? static_cast<double>(bias[j]) : 0;
      double want = (p.beta == 0 ? 0 : p.beta * old) + shift;
      double size = std::abs(p.beta == 0 ? 0 : p.beta * old) + std::abs(shift);
      for (index_t q = 0; q < p.k; ++q) {
        const double term = p.alpha * a.at(i, q) * b.at(q, j);
        want += term;
        size += std::abs(term);
      }
      wrong += !(std::abs(got - want) <= unit * size * (4 + 0.1 * static_cast<double>(p.k)));
    }
  }
  return wrong;
}

void check_product(const Problem& p, std::uint64_t seed) {
  INFO("m ", p.m, " n ", p.n, " k ", p.k, " transposes ", p.transpose_a, p.transpose_b, " gaps ", p.gap_a, " ", p.gap_b,
       " ", p.gap_c, " alpha ", p.alpha, " beta ", p.beta);
  const Stored a(p.m, p.k, p.transpose_a, p.gap_a, 3 * seed), b(p.k, p.n, p.transpose_b, p.gap_b, 3 * seed + 1);
  const index_t stride = p.n + p.gap_c;
  Array c = sample({p.m * stride}, 3 * seed + 2);
  const Array before = c;
  for (index_t i = 0; p.beta == 0 && i < p.m; ++i)  // old values of c must not be read
    std::fill_n(c.data() + i * stride, p.n, std::numeric_limits<real>::quiet_NaN());
  const Array shifts = sample({p.n}, 3 * seed + 5);
  const real* bias = seed % 2 ? shifts.data() : nullptr;
  kernels::gemm({p.m, p.n, p.k}, a.factor, b.factor, {c.data(), stride},
                {.alpha = static_cast<real>(p.alpha), .beta = static_cast<real>(p.beta), .bias = bias});
  CHECK(wrong_elements(p, a, b, before, bias, c) == 0);
}

}  // namespace

TEST_CASE("gemm: three hundred random products agree with the definition") {
  Random random(1, "gemm");
  const index_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 24, 31, 33, 48, 65, 97, 130};
  const double alphas[] = {1, 1, -0.5}, betas[] = {0, 1, 0.25};
  const auto pick = [&](auto& from) { return from[random.below(static_cast<index_t>(std::size(from)))]; };
  for (std::uint64_t round = 0; round < 300; ++round) {
    Problem p{};
    p.m = pick(sizes), p.n = pick(sizes), p.k = pick(sizes);
    p.transpose_a = random.below(2), p.transpose_b = random.below(2);
    p.gap_a = random.below(3) * 5, p.gap_b = random.below(3) * 3, p.gap_c = random.below(3) * 7;
    p.alpha = pick(alphas), p.beta = pick(betas);
    check_product(p, round);
  }
}

TEST_CASE("gemm: every number of rows up to more than two tiles agrees with the definition") {
  for (index_t m = 1; m <= 26; ++m)
    for (index_t n : {1, 7, 16, 31, 33})
      for (int transposes = 0; transposes < 4; ++transposes)
        check_product({m, n, 19, (transposes & 1) != 0, (transposes & 2) != 0, 0, 0, 0, 1, 0},
                      static_cast<std::uint64_t>(m * 100 + n));
}

TEST_CASE("gemm: products deeper, taller and wider than the blocks agree with the definition") {
  const index_t shapes[][3] = {{100, 40, 400}, {97, 70, 800},  {200, 33, 385}, {5, 600, 100},
                               {300, 5, 64},   {193, 130, 70}, {37, 70, 1100}, {400, 9, 1027}};
  std::uint64_t seed = 500;
  for (const auto& [m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes)
      check_product({m, n, k, (transposes & 1) != 0, (transposes & 2) != 0, 3, 2, 1, 1, transposes % 2 ? 1.0 : 0.0},
                    ++seed);
}

TEST_CASE("gemm: the bits do not depend on the number of threads or on the division of the work") {
  const int before = threads();
  const index_t shapes[][3] = {{128, 512, 1024}, {96, 128, 600}, {48, 65, 900},  {130, 40, 300},
                               {1100, 96, 500},  {35, 70, 1100}, {100, 500, 600}};
  for (const auto& [m, n, k] : shapes) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const Stored a(m, k, (transposes & 1) != 0, 3, 1), b(k, n, (transposes & 2) != 0, 2, 2);
      const Array start = counting({m * n});
      Array alone;
      for (int count : {1, 2, 3, 4, 7}) {
        INFO(m, " ", n, " ", k, " transposes ", transposes, " threads ", count);
        set_threads(count);
        Array c = start;
        kernels::gemm({m, n, k}, a.factor, b.factor, {c.data(), n}, {.alpha = real(0.5), .beta = 1});
        if (count == 1) alone = c;
        check_equal(c, alone);
      }
    }
  }
  set_threads(before);
}

TEST_CASE("gemm: a transposed factor whose rows are far apart agrees with the definition") {
  for (index_t n : {16, 31, 70})
    for (index_t m : {1, 11, 40, 100})
      check_product({m, n, 90, true, false, 1100, 0, 0, 1, 1}, static_cast<std::uint64_t>(m + n));
}

TEST_CASE("gemm: skipping the causally masked part changes no bit of the other part") {
  using kernels::CausalSkip;
  for (const auto& [rows, columns, width] :
       {std::array<index_t, 3>{64, 64, 32}, {33, 70, 40}, {96, 300, 8}, {130, 7, 65}}) {
    for (index_t first : {index_t{-20}, index_t{1}, columns / 2, columns + 5}) {
      INFO(rows, " ", columns, " ", width, " first ", first);
      // Row i of the scores [rows, columns] is zero from column first + i on.
      Array scores = sample({rows, columns}, 1);
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = std::max<index_t>(0, first + i); j < columns; ++j) scores(i, j) = 0;
      const Stored values(columns, width, false, 0, 2), queries(rows, width, false, 0, 3);
      const MatrixView a{scores.data(), columns}, across{scores.data(), columns, true};

      Array want = empty_array({rows * width}), got = want;
      kernels::gemm({rows, width, columns}, a, values.factor, {want.data(), width});
      kernels::gemm({rows, width, columns}, a, values.factor, {got.data(), width}, {}, {CausalSkip::Operand::a, first});
      check_equal(got, want);
      const kernels::PackedMatrix packed(values.factor, columns, width);
      kernels::gemm({rows, width, columns}, a, packed, {want.data(), width});
      kernels::gemm({rows, width, columns}, a, packed, {got.data(), width}, {}, {CausalSkip::Operand::a, first});
      check_equal(got, want);

      want = got = empty_array({columns * width});
      kernels::gemm({columns, width, rows}, across, queries.factor, {want.data(), width});
      kernels::gemm({columns, width, rows}, across, queries.factor, {got.data(), width}, {},
                    {CausalSkip::Operand::transposed_a, first});
      check_equal(got, want);

      want = got = empty_array({rows * columns});
      const kernels::PackedMatrix keys({values.factor.data, values.factor.stride, true}, width, columns);
      kernels::gemm({rows, columns, width}, queries.factor, keys, {want.data(), columns});
      kernels::gemm({rows, columns, width}, queries.factor, keys, {got.data(), columns}, {},
                    {CausalSkip::Operand::c, first});
      int wrong = 0;
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < std::min(columns, first + i); ++j)
          wrong += got.data()[i * columns + j] != want.data()[i * columns + j];
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("gemm: a product with inner dimension 0 scales c by beta") {
  Array c = row({1, 2, 3, 4});
  const MatrixView nothing{c.data(), 0};
  kernels::gemm({2, 2, 0}, nothing, nothing, {c.data(), 2}, {.beta = 1});
  check_equal(c, row({1, 2, 3, 4}));
  kernels::gemm({2, 2, 0}, nothing, nothing, {c.data(), 2}, {.beta = real(0.5)});
  check_equal(c, row({0.5, 1, 1.5, 2}));
  c(0) = std::numeric_limits<real>::quiet_NaN();
  kernels::gemm({2, 2, 0}, nothing, nothing, {c.data(), 2});
  check_equal(c, row({0, 0, 0, 0}));
  kernels::gemm({0, 2, 3}, nothing, nothing, {nullptr, 2});
  kernels::gemm({2, 0, 3}, nothing, nothing, {nullptr, 2});
}

TEST_CASE("gemm: NaN and infinity stay in the rows and columns that hold them") {
  Array a = Tensor::ones({20, 30}).value(), b = Tensor::ones({30, 40}).value(), c = empty_array({20, 40});
  a(3, 29) = std::numeric_limits<real>::quiet_NaN();
  b(0, 39) = std::numeric_limits<real>::infinity();
  kernels::gemm({20, 40, 30}, {a.data(), 30}, {b.data(), 40}, {c.data(), 40});
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 40; ++j) {
      if (i == 3) CHECK(std::isnan(static_cast<double>(c(i, j))));
      else CHECK(c(i, j) == (j == 39 ? std::numeric_limits<real>::infinity() : real(30)));
    }
}

TEST_CASE("gemm: a packed factor serves products of any leading part of it") {
  constexpr index_t k = 500, n = 70;
  for (const bool transposed : {false, true}) {
    const Stored b(k, n, transposed, 2, 7);
    const kernels::PackedMatrix packed(b.factor, k, n);
    CHECK(packed.k() == k);
    CHECK(packed.n() == n);
    for (const auto& [m, columns, depth] : {std::array<index_t, 3>{5, 70, 500},
                                            {100, 33, 500},
                                            {13, 70, 123},
                                            {1, 1, 1},
                                            {7, 64, 499},
                                            {3, 17, 385},
                                            {2, 5, 0},
                                            {0, 5, 3}}) {
      INFO(m, " ", columns, " ", depth, transposed ? " transposed" : "");
      const Stored a(m, depth, false, 1, 8);
      Array got = Tensor::ones({m * columns}).value(), want = got;
      kernels::gemm({m, columns, depth}, a.factor, packed, {got.data(), columns}, {.alpha = real(0.5), .beta = 1});
      kernels::gemm({m, columns, depth}, a.factor, b.factor, {want.data(), columns}, {.alpha = real(0.5), .beta = 1});
      check_near(got, want, {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-5)});
    }
  }
}

TEST_CASE("the backend has a name") { CHECK(std::string(gemm_library()).size() > 5); }

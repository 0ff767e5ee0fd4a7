// Sums of raw arrays against sums in long double, for lengths around every block size.
#include "support.hpp"

#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

const std::size_t kRowLengths[] = {0,   1,   7,   8,   15,  16,   17,   63,    64,    127,
                                   128, 129, 255, 256, 257, 1000, 4097, 32768, 32769, 100003};

}  // namespace

TEST_CASE("sums, sums of squares and dot products") {
  for (const index_t n : kRowLengths) {
    INFO(n);
    const Array x = sample({n}, 1, -1, 2), y = sample({n}, 2, 0, 1);
    long double sum = 0, squares = 0, dot = 0, size = 0;
    for (index_t i = 0; i < n; ++i) {
      sum += static_cast<long double>(x(i));
      size += std::abs(static_cast<long double>(x(i)));
      squares += static_cast<long double>(x(i)) * static_cast<long double>(x(i));
      dot += static_cast<long double>(x(i)) * static_cast<long double>(y(i));
    }
    const auto count = static_cast<index_t>(n);
    const double limit = tolerance(1e-15, 1e-7) * static_cast<double>(size);
    check_near(kernels::sum(x.data(), count), static_cast<double>(sum), {0, limit});
    check_near(kernels::isa().reduce.dot(x.data(), y.data(), count), static_cast<double>(dot), {0, limit});
    check_near(kernels::sum_of_squares(x.data(), count), static_cast<double>(squares), {1e-14, 0});
  }
}

TEST_CASE("squares that overflow or underflow in float are summed in double") {
  if (kDouble) return;
  const Array large = Tensor(Tensor::ones({100}) * static_cast<real>(1e30)).value();
  check_near(kernels::sum_of_squares(large.data(), 100), 1e62, {1e-6, 0});
  const Array small = Tensor(Tensor::ones({100}) * static_cast<real>(1e-30)).value();
  check_near(kernels::sum_of_squares(small.data(), 100), 1e-58, {1e-6, 0});
}

TEST_CASE("a single NaN or infinity anywhere makes all_finite false") {
  for (const index_t n : {1, 15, 16, 17, 300, 1025}) {
    Array x = sample({n}, 1);
    const auto finite = [&] { return kernels::isa().reduce.all_finite(x.data(), static_cast<index_t>(n)); };
    CHECK(finite());
    x(n / 2) = std::numeric_limits<real>::max();
    CHECK(finite());
    for (const index_t at : {index_t{0}, n / 3, n - 1}) {
      for (const real bad : {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity(),
                             -std::numeric_limits<real>::infinity()}) {
        const real old = std::exchange(x(at), bad);
        CHECK_FALSE(finite());
        x(at) = old;
      }
    }
  }
}

TEST_CASE("the largest magnitude, and NaN if an element is not finite") {
  CHECK(kernels::largest_magnitude(nullptr, 0) == 0);
  for (const index_t n : kRowLengths) {
    if (n == 0) continue;
    INFO(n);
    Array x = sample({n}, 1);
    const auto largest = [&] { return kernels::largest_magnitude(x.data(), static_cast<index_t>(n)); };
    real want = 0;
    for (const real v : x) want = std::max(want, std::abs(v));
    CHECK(largest() == want);
    for (const double factor : {1e-30, 1.0, 1e30}) {
      const Array scaled = Tensor(Tensor(x) * static_cast<real>(factor)).value();
      const double most = static_cast<double>(want) * factor,
                   bound = kernels::magnitude_bound(scaled.data(), static_cast<index_t>(n));
      CHECK(bound >= most * 0.999999);
      CHECK(bound <= most * 1.01 * std::sqrt(static_cast<double>(n)) + 1e-17);
    }
    for (const index_t at : {index_t{0}, n / 3, n - 1}) {
      const real old = std::exchange(x(at), -std::numeric_limits<real>::max());
      CHECK(largest() == std::numeric_limits<real>::max());
      for (const double bad : {kInf, -kInf, kNaN}) {
        x(at) = static_cast<real>(bad);
        CHECK(std::isnan(largest()));
        CHECK(std::isnan(kernels::magnitude_bound(x.data(), static_cast<index_t>(n))));
      }
      x(at) = old;
    }
  }
}

TEST_CASE("sums over a middle axis, stored or added to the output, with a divisor") {
  for (const auto& [outer, count, inner] : {std::array<index_t, 3>{1, 1000, 3},
                                            {3, 5, 1},
                                            {4, 65, 7},
                                            {1, 200, 300},
                                            {2, 0, 3},
                                            {700, 90, 1},
                                            {0, 3, 4},
                                            {1, 7, 0}}) {
    INFO(outer, " ", count, " ", inner);
    const Array x = sample({outer, count, inner}, 1);
    for (const bool accumulate : {false, true}) {
      Array out = Tensor::ones({outer, inner}).value();
      if (!accumulate) out.fill(std::numeric_limits<real>::quiet_NaN());
      Array want = empty_array({outer, inner});
      for (index_t o = 0; o < outer; ++o)
        for (index_t i = 0; i < inner; ++i) {
          double total = 0;
          for (index_t c = 0; c < count; ++c) total += static_cast<double>(x(o, c, i));
          want(o, i) = static_cast<real>(total / 2 + (accumulate ? 1 : 0));
        }
      kernels::sum_axis(x.data(), static_cast<index_t>(outer), static_cast<index_t>(count), static_cast<index_t>(inner),
                        2, {out.data(), accumulate});
      check_near(out, want, {tolerance(1e-13, 1e-5), tolerance(1e-13, 1e-5)});
    }
  }
}

TEST_CASE("the maximum of elements that are all minus infinity is minus infinity") {
  const real inf = std::numeric_limits<real>::infinity();
  for (const index_t n : {1, 2, 16, 40}) {
    Array x = empty_array({n});
    x.fill(-inf);
    const auto largest = [&] { return kernels::isa().softmax.max(x.data(), static_cast<index_t>(n)); };
    CHECK(largest() == -inf);
    x(n - 1) = -5;
    CHECK(largest() == -5);
    x(0) = inf;
    CHECK(largest() == inf);
  }
  CHECK(kernels::isa().softmax.max(nullptr, 0) == -inf);
}

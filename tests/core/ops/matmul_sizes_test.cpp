// Matrix products of every small size, plain and transposed: covers every row count of a tile and every vector
// remainder.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// The product of a and b by a plain loop in double, with the operands transposed as `o` says.
Array by_loops(const Array& a, const Array& b, index_t m, index_t n, index_t k, MatmulOptions o) {
  Array out = empty_array({m, n});
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t p = 0; p < k; ++p)
        sum += static_cast<double>(o.transpose_a ? a(p, i) : a(i, p)) *
               static_cast<double>(o.transpose_b ? b(j, p) : b(p, j));
      out(i, j) = static_cast<real>(sum);
    }
  return out;
}

}  // namespace

TEST_CASE("products of every small size agree with a plain loop, transposed or not") {
  for (index_t m = 1; m <= 27; ++m)
    for (index_t n : {1, 2, 3, 5, 8, 17, 33})
      for (index_t k : {1, 2, 3, 7, 20})
        for (bool ta : {false, true})
          for (bool tb : {false, true}) {
            const MatmulOptions o{.transpose_a = ta, .transpose_b = tb};
            const Array a = sample(ta ? Shape{k, m} : Shape{m, k}, m), b = sample(tb ? Shape{n, k} : Shape{k, n}, n);
            const Array got = matmul(Tensor(a), Tensor(b), o).value();
            const std::string text =
                difference(got, by_loops(a, b, m, n, k, o), {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-6)});
            CHECK_MESSAGE(text.empty(), m, " x ", n, " x ", k, ta ? ", a transposed" : "", tb ? ", b transposed" : "",
                          ": ", text);
          }
}

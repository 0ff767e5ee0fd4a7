// A worker that runs only the matrix products of a workload's step: their time is a lower bound of the step's.
#include "limits.hpp"
#include "workloads.hpp"

#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/runtime.hpp>

namespace bench {

namespace {

/// The operands of one entry. Independent products have separate operands, the others share them.
struct Operands {
  explicit Operands(const Product& p)
      : product(p),
        a(numbers("a", xtape::Shape{copies(), p.m * p.k})),
        b(numbers("b", xtape::Shape{copies(), p.k * p.n})),
        c(xtape::empty_array({copies(), p.m * p.n})) {}

  void multiply(std::int64_t part) {
    const Product& p = product;
    xtape::kernels::gemm({p.m, p.n, p.k}, {a.data() + part * p.m * p.k, p.a_transposed ? p.m : p.k, p.a_transposed},
                         {b.data() + part * p.k * p.n, p.b_transposed ? p.k : p.n, p.b_transposed},
                         {c.data() + part * p.m * p.n, p.n});
  }
  void multiply_all() {
    if (product.independent) {
      xtape::parallel_for(product.count, [&](xtape::index_t i) { multiply(i); });
    } else {
      for (std::int64_t i = 0; i < product.count; ++i) multiply(0);
    }
  }

  std::int64_t copies() const { return product.independent ? product.count : 1; }

  Product product;
  xtape::Array a, b, c;
};

class Products final : public Workload {
 public:
  explicit Products(const Sizes& sizes) {
    for (const Product& p : products_of(sizes)) operands_.emplace_back(p);
  }

  void step() override {
    for (Operands& o : operands_) o.multiply_all();
  }
  double loss() const override { return 0; }
  double gradient_norm() const override { return 0; }

 private:
  std::vector<Operands> operands_;
};

}  // namespace

}  // namespace bench

int main() {
  return bench::serve({
      .about = xtape::gemm_library(),
      .make = [](const bench::Sizes& sizes) { return std::make_unique<bench::Products>(sizes); },
      .commands = {{"peak", bench::peak_gflops}},
  });
}

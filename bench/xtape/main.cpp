// The worker of xtape.
#include "xtape/workloads.hpp"

#include <xtape/core/kernels/backend.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/threads.hpp>

int main() {
  return bench::serve({
      .about = std::string("products by ") + xtape::kernels::backend_name() + ", kernels for " +
               xtape::kernels::level().name + ", threads " + std::to_string(xtape::threads()),
      .make = [](const bench::Sizes& sizes) { return std::visit([](const auto& s) { return bench::make(s); }, sizes); },
  });
}

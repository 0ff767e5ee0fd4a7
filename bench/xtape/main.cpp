// The worker process for xtape.
#include "workloads.hpp"

#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/threads.hpp>

int main() {
  return bench::serve({
      .about = std::string("products by ") + xtape::kernels::backend_name() + ", kernels for " +
               xtape::kernels::isa().name + ", threads " + std::to_string(xtape::threads()),
      .make = [](const bench::Sizes& sizes) { return std::visit([](const auto& s) { return bench::make(s); }, sizes); },
  });
}

// The worker process for xtape.
#include "workloads.hpp"

#include <xtape/core/runtime.hpp>
#include <xtape/core/threads.hpp>

int main() {
  return bench::serve({
      .about = std::string("products by ") + xtape::gemm_library() + ", kernels for " + xtape::isa_name() +
               ", threads " + std::to_string(xtape::threads()),
      .make = [](const bench::Sizes& sizes) { return std::visit([](const auto& s) { return bench::make(s); }, sizes); },
  });
}

// The worker process for LibTorch.
#include "workloads.hpp"

#include <ATen/Version.h>
#include <dlfcn.h>

namespace {

/// The file from which the dynamic linker took sgemm, and OpenBLAS's description of itself if it is OpenBLAS.
std::string blas() {
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info;
  std::string out = sgemm && dladdr(sgemm, &info) ? info.dli_fname : "no BLAS found";
  using Words = char* (*)();
  const auto config = reinterpret_cast<Words>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  const auto core = reinterpret_cast<Words>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (config && core) out += std::string(" (") + config() + ", kernels " + core() + ")";
  else out += " (not OpenBLAS)";
  return out;
}

/// Returns "AVX512" from LibTorch's line "CPU capability usage: AVX512".
std::string capability() {
  const std::string config = at::show_config(), key = "CPU capability usage: ";
  const std::size_t at = config.find(key);
  if (at == std::string::npos) return "an unknown capability";
  return config.substr(at + key.size(), config.find('\n', at) - at - key.size());
}

}  // namespace

int main() {
  return bench::serve({
      .about = "LibTorch " TORCH_VERSION " on " + blas() + ", kernels for " + capability() + ", threads " +
               std::to_string(at::get_num_threads()),
      .make = [](const bench::Sizes& sizes) { return std::visit([](const auto& s) { return bench::make(s); }, sizes); },
  });
}

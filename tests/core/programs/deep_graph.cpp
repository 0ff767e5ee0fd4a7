// Builds a chain of a million ops, runs backward and frees it; to be run with a small stack (`ulimit -s 1024`). Exits
// with 0 if the results are correct and a million nodes took less than ten seconds.
#include <xtape/xtape.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstdio>

using namespace xtape;

namespace {

constexpr int kOps = 1000000;

/// y = x + 1 + 1 ... Returns false if the value or the gradient is wrong.
bool chain(bool backward) {
  Tape tape;
  const Tensor x = tape.variable(Tensor::scalar(5).value());
  Tensor y = x;
  for (int i = 0; i < kOps; ++i) y = y + real(1);
  if (y.item() != real(kOps + 5) || tape.nodes() != kOps + 1) return false;
  if (!backward) return true;  // the tape's destructor frees everything
  tape.backward(y);
  return tape.grad(x)() == 1;
}

double peak_megabytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main() {
  rlimit stack = {};
  ::getrlimit(RLIMIT_STACK, &stack);
  const auto start = std::chrono::steady_clock::now();
  const bool right = chain(true) && chain(false);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("stack %.0f KB; two chains of %d ops: %.2f s, peak %.0f MB; %s\n",
              static_cast<double>(stack.rlim_cur) / 1024, kOps, seconds, peak_megabytes(), right ? "right" : "WRONG");
  return right && Tape::live_nodes() == 0 && seconds < 20 ? 0 : 1;
}

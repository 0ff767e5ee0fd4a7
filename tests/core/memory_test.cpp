// Memory use stays constant over training steps, and a backward pass frees memory as it goes.
#include "support.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>

#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Two layers of a regression network.
struct Net {
  Parameter w1{"w1", sample({8, 4}, 1)}, b1{"b1", sample({8}, 2)}, w2{"w2", sample({1, 8}, 3)};
  Tensor x = sample({16, 4}, 4), target = sample({16, 1}, 5);

  Tensor loss() const {
    const Tensor error = linear(tanh(linear(x, w1, b1)), w2) - target;
    return mean(error * error);
  }

  void descend() {
    for (Parameter* p : {&w1, &b1, &w2}) {
      const Array& grad = p->grad();
      real* value = p->edit();
      for (std::size_t i = 0; i < grad.size(); ++i) value[i] -= real(0.01) * grad.data()[i];
      p->zero_grad();
    }
  }
};

struct LiveMemory {
  index_t nodes;
  std::int64_t bytes, blocks;

  static LiveMemory now() { return {Tape::live_nodes(), pool::stats().live_bytes, pool::stats().live_blocks}; }
  bool operator==(const LiveMemory&) const = default;
};

double resident_megabytes() {
  std::ifstream in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Runs `step(i)` `steps` times. The numbers of live nodes, bytes and blocks must be equal after every step from the
/// third on.
template <class Step>
void check_flat(int steps, const Step& step) {
  for (int i = 0; i < 3; ++i) step(i);
  const LiveMemory baseline = LiveMemory::now();
  int different = 0;
  double resident = 0;
  for (int i = 3; i < steps; ++i) {
    step(i);
    different += LiveMemory::now() != baseline;
    if (i == 100) resident = resident_megabytes();
  }
  CHECK(different == 0);
  CHECK(baseline.nodes == 0);
  if (pool::caching()) CHECK(resident_megabytes() - resident < 1);
}

}  // namespace

TEST_CASE("training steps leave no memory behind") {
  Net net;
  check_flat(10000, [&](int) {
    Tape tape;
    tape.backward(net.loss());
    net.descend();
  });
}

TEST_CASE("a running total of losses needs item or detach, and then uses constant memory") {
  Net net;
  Tensor total = Tensor::scalar(0);
  check_flat(1000, [&](int) {
    Tape tape;
    const Tensor loss = net.loss();
    total = total + loss.detach();
    tape.backward(loss);
    net.descend();
  });
  CHECK(total.item() > 0);
  // Without it the second step is refused, so no graph can grow.
  total = Tensor::scalar(0);
  const auto step = [&] {
    Tape tape;
    const Tensor loss = net.loss();
    total = total + loss;
    tape.backward(loss);
  };
  step();
  check_throws<TapeError>(step, "call detach()");
}

TEST_CASE("evaluation leaves no memory behind, with or without a tape") {
  Net net;
  check_flat(1000, [&](int i) {
    if (i % 2) {
      Tape tape;
      (void)net.loss();
    } else {
      (void)net.loss();
    }
  });
}

TEST_CASE("an exception between forward and backward leaves no memory behind") {
  Net net;
  check_flat(1000, [&](int i) {
    try {
      Tape tape;
      const Tensor loss = net.loss();
      if (i % 10 == 9) throw std::runtime_error("bad batch");
      tape.backward(loss);
      net.descend();
    } catch (const std::runtime_error&) {
    }
  });
}

TEST_CASE("an exception in the middle of a backward pass leaves no memory behind") {
  Net net;
  check_flat(1000, [&](int i) {
    try {
      Tape tape;
      const Tensor hidden = tanh(linear(net.x, net.w1, net.b1));
      const Tensor loss = mean(linear(hidden, net.w2));
      tape.on_grad(hidden, [i](const Array&) {
        if (i % 10 == 9) throw std::runtime_error("bad gradient");
      });
      tape.backward(loss);
      net.descend();
    } catch (const std::runtime_error&) {
      for (Parameter* p : {&net.w1, &net.b1, &net.w2}) p->zero_grad();
    }
  });
}

TEST_CASE("a recurrent state carried over steps must be detached, and then uses constant memory") {
  const Parameter w("w", sample({4, 4}, 6));
  const Tensor x = sample({2, 4}, 7);
  Tensor state = Tensor::zeros({2, 4});
  const auto step = [&](bool detach) {
    Tape tape;
    for (int t = 0; t < 5; ++t) state = tanh(linear(state, w) + x);
    tape.backward(sum(state));
    if (detach) state = state.detach();
  };
  check_flat(500, [&](int) { step(true); });
  step(false);
  check_throws<TapeError>([&] { step(false); }, "call detach()");
}

TEST_CASE("each backward function is freed before those of earlier ops run") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  const Tensor y = x * real(2);
  const auto token = std::make_shared<int>(0);
  const Tensor z = Tape::record("held", {y}, Tensor(y.value()), [token](const Array&, Grads& g) { g.pass(0); });
  CHECK(token.use_count() == 2);
  long seen = 0;
  tape.on_grad(y, [&](const Array&) { seen = token.use_count(); });
  tape.backward(sum(z));
  CHECK(seen == 1);
}

TEST_CASE("backward functions kept for more passes are freed with the tape") {
  const auto token = std::make_shared<int>(0);
  {
    Tape tape({.retain_graph = true});
    const Tensor x = tape.variable(row({1, 2}));
    const Tensor y = Tape::record("held", {x}, Tensor(x.value()), [token](const Array&, Grads& g) { g.pass(0); });
    tape.backward(sum(y));
    CHECK(token.use_count() == 2);
  }
  CHECK(token.use_count() == 1);
}

TEST_CASE("gradients of inner tensors are freed during the pass") {
  constexpr index_t elements = 1 << 14;
  constexpr auto array_bytes = static_cast<std::int64_t>(elements * sizeof(real));
  Tape tape;
  const Tensor x = tape.variable(Tensor::ones({elements}).value());
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = tanh(y);
  const Tensor loss = sum(y);
  y = Tensor();
  const std::int64_t before = pool::stats().live_bytes;
  std::int64_t at_end = 0;
  tape.on_grad(x, [&](const Array&) { at_end = pool::stats().live_bytes; });
  tape.backward(loss);
  // the outputs saved by the backward functions are freed, and no gradient is left
  CHECK(before - at_end > 45 * array_bytes);
}

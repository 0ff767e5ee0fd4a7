// Threads: equal bits for any number of threads, tapes on several user threads, fork.
#include "forked.hpp"

#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/nn/linear.hpp>

#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Sets the number of threads for one test.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0;
}

/// A computation on large arrays: values and gradients.
struct Computation {
  const char* name;
  std::function<std::vector<Array>()> run;
};

/// The value of f(x...) and all gradients for a random upstream gradient.
std::vector<Array> with_gradients(const TensorFunction& f, const std::vector<Array>& inputs) {
  Tape tape;
  std::vector<Tensor> tensors;
  for (const Array& input : inputs) tensors.push_back(tape.variable(input));
  const Tensor y = f(tensors);
  tape.backward(y, sample(y.shape(), 99));
  std::vector<Array> out = {y.value()};
  for (const Tensor& tensor : tensors) out.push_back(tape.grad(tensor));
  return out;
}

std::vector<Computation> computations() {
  using Inputs = std::span<const Tensor>;
  const Array big = sample({300, 700}, 1), other = sample({300, 700}, 2, 0.5, 2), line = sample({700}, 3, 0.5, 2);
  const Array column = sample({300, 1}, 4, 0.5, 2), flat = sample({5, 200000}, 5);
  const Array q = sample({2, 4, 150, 16}, 6), k = sample({2, 2, 170, 16}, 7), v = sample({2, 2, 170, 24}, 8);
  const Array qkv = sample({2, 150, 96}, 9), a = sample({257, 300}, 10), b = sample({300, 130}, 11);
  const IndexArray ids = [] {
    IndexArray out = IndexArray::from_shape({2000});
    for (std::size_t i = 0; i < 2000; ++i) out(i) = static_cast<index_t>(i * i % 300);
    return out;
  }();
  const IndexArray classes = [] {
    IndexArray out = IndexArray::from_shape({300});
    for (std::size_t i = 0; i < 300; ++i) out(i) = static_cast<index_t>(i * 7 % 700);
    return out;
  }();
  std::vector<Computation> all;
  const auto add_op = [&all](const char* name, const TensorFunction& f, const std::vector<Array>& inputs) {
    all.push_back({name, [f, inputs] { return with_gradients(f, inputs); }});
  };
  add_op("add a row", [](Inputs x) { return x[0] + x[1]; }, {big, line});
  add_op("divide by a column", [](Inputs x) { return x[0] / x[1]; }, {big, column});
  add_op("multiply", [](Inputs x) { return x[0] * x[1]; }, {big, other});
  add_op("power", [](Inputs x) { return pow(x[0], x[1]); }, {other, line});
  add_op("tanh", [](Inputs x) { return tanh(x[0]); }, {big});
  add_op("gelu", [](Inputs x) { return gelu(x[0]); }, {big});
  add_op("sum of all", [](Inputs x) { return sum(x[0]); }, {flat});
  add_op("sum of rows", [](Inputs x) { return sum(x[0], {1}); }, {flat});
  add_op("mean of columns", [](Inputs x) { return mean(x[0], {0}); }, {big});
  add_op("matmul", [](Inputs x) { return matmul(x[0], x[1]); }, {a, b});
  add_op("batched matmul", [](Inputs x) { return matmul(x[0], x[1], {.transpose_b = true}); },
         {q, sample({2, 4, 33, 16}, 12)});
  add_op("linear", [](Inputs x) { return linear(x[0], x[1], x[2]); }, {a, sample({90, 300}, 13), sample({90}, 14)});
  add_op("softmax", [](Inputs x) { return softmax(x[0]); }, {big});
  add_op("log_softmax along columns", [](Inputs x) { return log_softmax(x[0], 0); }, {big});
  add_op("cross_entropy", [classes](Inputs x) { return cross_entropy(x[0], classes); }, {big});
  add_op("layer_norm", [](Inputs x) { return layer_norm(x[0], x[1], x[2]); }, {big, line, line});
  add_op("batch_norm", [](Inputs x) { return batch_norm(x[0], x[1], x[2]).y; }, {big, line, line});
  add_op("embedding", [ids](Inputs x) { return embedding(x[0], ids); }, {big});
  add_op("dropout", [](Inputs x) { return dropout(x[0], 0.3, {1, 2, 3}); }, {big});
  add_op("permute", [](Inputs x) { return permute(x[0], {2, 0, 3, 1}); }, {q});
  add_op("transpose", [](Inputs x) { return permute(x[0], {1, 0}); }, {big});
  add_op("concat and slice", [](Inputs x) { return slice(concat({x[0], x[1]}, 1), 1, 5, 1300, 3); }, {big, other});
  add_op("attention", [](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}); },
         {q, k, v});
  add_op("attention with dropout",
         [](Inputs x) {
           return scaled_dot_product_attention(x[0], x[1], x[2], {.dropout = 0.2, .dropout_key = {4, 5, 6}});
         },
         {q, k, v});
  add_op("self_attention", [](Inputs x) { return self_attention(x[0], 2); }, {qkv});
  all.push_back({"sum of squares",
                 [flat] { return std::vector<Array>{row({kernels::sum_of_squares(flat.data(), std::ssize(flat))})}; }});
  all.push_back({"adam", [big, other] {
                   Array value = big, first = other, second = other;
                   kernels::adam({0.9, 0.999, 1e-8, 1e-2, 1.5, 0.01, 0.02}, other.data(), value.data(), first.data(),
                                 second.data(), numel(value));
                   return std::vector<Array>{value, first, second};
                 }});
  return all;
}

/// Trains a small regression network and returns its parameters.
std::vector<Array> trained_net(std::uint64_t seed, int steps) {
  ParamStore store(seed);
  const Linear up(store.root() / "up", 20, 50), down(store.root() / "down", 50, 3);
  const Tensor x = sample({64, 20}, seed + 1), target = sample({64, 3}, seed + 2);
  for (int i = 0; i < steps; ++i) {
    Tape tape;
    const Tensor error = down(tanh(up(x))) - target;
    tape.backward(mean(error * error));
    for (Parameter p : store.parameters()) {
      const Array& grad = p.grad();
      real* value = p.edit();
      for (std::size_t j = 0; j < grad.size(); ++j) value[j] -= real(0.1) * grad.data()[j];
    }
    store.zero_grad();
  }
  std::vector<Array> out;
  for (const Parameter& p : store.parameters()) out.push_back(p.value());
  return out;
}

bool all_same(const std::vector<Array>& a, const std::vector<Array>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = same_bits(a[i], b[i]);
  return same;
}

}  // namespace

TEST_CASE("every kernel gives the same bits for 1, 2 and 5 threads") {
  for (const Computation& computation : computations()) {
    INFO(computation.name);
    std::vector<Array> want;
    for (const int count : {1, 2, 5}) {
      const Threads scope(count);
      const std::vector<Array> got = computation.run();
      if (count == 1) want = got;
      CHECK(all_same(got, want));
    }
  }
}

TEST_CASE("every task runs exactly once, nested calls included") {
  for (const int count : {1, 2, 5}) {
    const Threads scope(count);
    std::vector<std::atomic<int>> runs(1000);
    parallel_for(10, [&](index_t outer) { parallel_for(100, [&](index_t inner) { ++runs[outer * 100 + inner]; }); });
    for (const std::atomic<int>& run : runs) CHECK(run == 1);
    std::atomic<int> total{0};
    parallel_ranges(1001, 10, [&](index_t begin, index_t end) {
      if (end - begin != 10 && end != 1001) total += 100000;
      total += static_cast<int>(end - begin);
    });
    CHECK(total == 1001);
  }
  parallel_for(0, [](index_t) { FAIL_CHECK("there is no task"); });
  parallel_ranges(0, 10, [](index_t, index_t) { FAIL_CHECK("there is no range"); });
}

TEST_CASE("an invalid number of threads is refused") {
  const int before = threads();
  CHECK(before >= 1);
  check_throws<ValueError>([] { set_threads(0); }, "[set_threads] expected from 1 to 1024 threads, got 0");
  check_throws<ValueError>([] { set_threads(1025); }, "got 1025");
  CHECK(threads() == before);
}

TEST_CASE("a forked child runs without threads if the system grants none") {
  if (!pool::caching()) return;  // sanitizers need the whole address space
  const int code = in_child([] {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit limit{pages * 4096 + (rlim_t{100} << 20), RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return false;
    set_threads(1000);
    std::atomic<int> runs{0};
    for (int i = 0; i < 20; ++i) parallel_for(100, [&](index_t) { ++runs; });
    return runs == 2000 && threads() == 1000;
  });
  CHECK(code == 0);
}

TEST_CASE("two threads with their own tapes and models train as if run one after the other") {
  const std::vector<Array> first = trained_net(1, 50), second = trained_net(2, 50);
  for (int round = 0; round < 5; ++round) {
    std::vector<Array> a, b;
    std::thread one([&] { a = trained_net(1, 50); });
    std::thread two([&] { b = trained_net(2, 50); });
    one.join();
    two.join();
    CHECK(all_same(a, first));
    CHECK(all_same(b, second));
  }
}

TEST_CASE("two threads may share a model for inference") {
  ParamStore store(3);
  const Linear layer(store.root() / "layer", 100, 200);
  const Tensor x = sample({200, 100}, 4);
  const Array want = tanh(layer(x)).value();
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i)
    users.emplace_back([&] {
      for (int round = 0; round < 30; ++round) wrong += !same_bits(tanh(layer(x)).value(), want);
    });
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
}

TEST_CASE("live nodes are counted per thread") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  std::thread([] {
    CHECK(Tape::live_nodes() == 0);
    CHECK(Tape::recorder() == nullptr);
    Tape own;
    (void)own.variable(row({1}));
    CHECK(Tape::live_nodes() == 1);
  }).join();
  CHECK(Tape::live_nodes() == 1);
}

TEST_CASE("matrix products work in the parent, in a forked child and in the parent again") {
  const Threads scope(3);
  const auto all_512 = [] {
    const Array ones = Tensor::ones({512, 512}).value();
    Array c = empty_array({512, 512});
    kernels::gemm({512, 512, 512}, {ones.data(), 512}, {ones.data(), 512}, {c.data(), 512});
    for (const real value : c)
      if (value != 512) return false;
    return true;
  };
  CHECK(all_512());
  CHECK(in_child(all_512) == 0);
  CHECK(all_512());
}

TEST_CASE("a forked child can train and fork again") {
  const Threads scope(3);
  const std::vector<Array> want = trained_net(1, 20);
  CHECK(in_child([&] {
          if (!all_same(trained_net(1, 20), want)) return false;
          return in_child([&] { return all_same(trained_net(1, 20), want); }) == 0;
        }) == 0);
}

TEST_CASE("repeated runs give the same bits") {
  const std::vector<Array> want = trained_net(7, 30);
  for (int round = 0; round < 20; ++round) CHECK(all_same(trained_net(7, 30), want));
}

// Prints the time of each kernel beside the limit set by memory bandwidth or arithmetic, measured in the same run.
#include "limits.hpp"
#include "workloads.hpp"

#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/layer_norm.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/core/kernels/recurrent.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/shape.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/kernels/unary.hpp>
#include <xtape/core/runtime.hpp>
#include <xtape/core/threads.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

namespace bench {

namespace {

using namespace xtape;
using kernels::Unary;

constexpr int kTrials = 9;  // the best trial counts

/// Milliseconds of one call: the best of several trials of about 5 ms each.
double best_milliseconds(const std::function<void()>& call) {
  const double first = milliseconds(2, call);
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(5 / first));
  double best = first;
  for (int trial = 0; trial < kTrials; ++trial) best = std::min(best, milliseconds(count, call));
  return best;
}

void print(const char* kernel, const std::string& size, double time, double rate, const char* unit, double limit) {
  std::printf("| %-28s | %-24s | %9.1f | %7.1f %s | %7.1f | %5.0f %% |\n", kernel, size.c_str(), 1e3 * time, rate, unit,
              limit, 100 * rate / limit);
  std::fflush(stdout);
}

/// Number of arrays that a kernel reads, that it writes, and that it changes in place.
struct Arrays {
  index_t read, written = 0, changed = 0;
};

/// Times a kernel over arrays of `count` floats. A written array counts twice; see triad_gbytes.
void by_bandwidth(const char* kernel, const std::string& size, Arrays arrays, index_t count,
                  const std::function<void()>& call) {
  static std::map<std::pair<index_t, bool>, double> limits;
  const bool reads_only = arrays.written + arrays.changed == 0;
  const index_t held = 4 * count * (arrays.read + arrays.written + arrays.changed);
  const index_t moved = 4 * count * (arrays.read + 2 * arrays.written + 2 * arrays.changed);
  const auto [limit, is_new] = limits.try_emplace({held, reads_only});
  if (is_new) limit->second = reads_only ? read_gbytes(held) : triad_gbytes(held);
  const double time = best_milliseconds(call);
  print(kernel, size, time, static_cast<double>(moved) / time / 1e6, "GB/s   ", limit->second);
}

void by_arithmetic(const char* kernel, const std::string& size, double flops, const std::function<void()>& call) {
  static const double peak = peak_gflops();
  const double time = best_milliseconds(call);
  print(kernel, size, time, flops / time / 1e6, "GFLOP/s", peak);
}

std::string text(std::initializer_list<std::int64_t> sizes, const char* between = " x ") {
  std::string out;
  for (const std::int64_t size : sizes) out += (out.empty() ? "" : between) + std::to_string(size);
  return out;
}

/// An array of values that every kernel accepts.
Array operand(index_t count) { return numbers("operand", {count}); }

void elementwise(index_t n) {
  const Array x = operand(n), dy = operand(n);
  Array y = empty_array(x.shape()), derivative = empty_array(x.shape());
  const std::string size = text({n});
  const std::pair<const char*, Unary> functions[] = {
      {"exp", Unary::exp}, {"tanh", Unary::tanh}, {"sigmoid", Unary::sigmoid}, {"relu", Unary::relu}};
  for (const auto& [name, f] : functions)
    by_bandwidth(name, size, {1, 1}, n, [&, f = f] { kernels::unary(f, x.data(), y.data(), n); });
  by_bandwidth("tanh backward", size, {2, 1}, n,
               [&] { kernels::unary_backward(Unary::tanh, x.data(), x.data(), dy.data(), {y.data()}, n); });
  by_bandwidth("gelu with slope", size, {1, 2}, n,
               [&] { kernels::unary_and_derivative(Unary::gelu, x.data(), y.data(), derivative.data(), n); });
  by_bandwidth("gelu_tanh with slope", size, {1, 2}, n,
               [&] { kernels::unary_and_derivative(Unary::gelu_tanh, x.data(), y.data(), derivative.data(), n); });
  by_bandwidth("add", size, {2, 1}, n,
               [&] { kernels::binary(kernels::Binary::add, x.data(), 1, dy.data(), 1, y.data(), n); });
  by_bandwidth("product", size, {2, 1}, n, [&] { kernels::product(x.data(), dy.data(), 1, {y.data()}, n); });
}

void rows(index_t r, index_t c) {
  const index_t n = r * c;
  const Array x = operand(n), dy = operand(n), weight = operand(c), weights = operand(r);
  Array y = empty_array(x.shape()), losses = empty_array(weights.shape()), inverse = empty_array(weights.shape()),
        out = empty_array(weight.shape()), bias_sums = empty_array(weight.shape());
  std::vector<kernels::LogSum> sums(static_cast<std::size_t>(r));
  std::vector<double> mean(static_cast<std::size_t>(r));
  const std::vector<index_t> targets = classes("targets", c, r);
  const kernels::CrossEntropyRows logits{x.data(), r, c, 0};
  const std::string size = text({r, c});
  by_bandwidth("column sums", size, {1}, n, [&] { kernels::sum_axis(x.data(), 1, r, c, 1, {out.data()}); });
  by_bandwidth("sum of squares", size, {1}, n,
               [&] { out(0) = static_cast<real>(kernels::sum_of_squares(x.data(), n)); });
  by_bandwidth("softmax", size, {1, 1}, n, [&] { kernels::softmax(x.data(), y.data(), r, c); });
  by_bandwidth("softmax backward", size, {2, 1}, n,
               [&] { kernels::softmax_backward(x.data(), dy.data(), {y.data()}, r, c); });
  by_bandwidth("log_softmax", size, {1, 1}, n, [&] { kernels::log_softmax(x.data(), y.data(), r, c); });
  by_bandwidth("log_softmax backward", size, {2, 1}, n,
               [&] { kernels::log_softmax_backward(x.data(), dy.data(), {y.data()}, r, c); });
  by_bandwidth("cross_entropy", size, {1}, n,
               [&] { kernels::cross_entropy(logits, targets.data(), 1, losses.data(), sums.data()); });
  by_bandwidth("cross_entropy backward", size, {1, 1}, n, [&] {
    kernels::cross_entropy_backward(logits, targets.data(), sums.data(), {weights.data(), 1}, {y.data()});
  });
  by_bandwidth("layer_norm", size, {1, 1}, n, [&] {
    kernels::layer_norm({x.data(), weight.data(), weight.data(), 1e-5, r, c}, y.data(), mean.data(), inverse.data());
  });
  const kernels::NormRows in{x.data(), weight.data(), 1e-5, mean.data(), inverse.data(), dy.data(), r, c};
  by_bandwidth("layer_norm backward, dx", size, {2, 1}, n,
               [&] { kernels::layer_norm_backward(in, {y.data()}, {}, {}); });
  by_bandwidth("layer_norm backward, all", size, {2, 1}, n,
               [&] { kernels::layer_norm_backward(in, {y.data()}, {out.data()}, {bias_sums.data()}); });
}

void batch_norm(index_t r, index_t c) {
  const index_t n = r * c;
  const Array x = operand(n), dy = operand(n), weight = operand(c);
  Array y = empty_array(x.shape());
  std::vector<double> mean(static_cast<std::size_t>(c)), variance(mean), divisor(mean), dy_sums(mean),
      dy_x_hat_sums(mean);
  const kernels::NormColumns in{x.data(), r, c, mean.data(), divisor.data()};
  const kernels::ColumnSums sums{dy_sums.data(), dy_x_hat_sums.data()};
  const std::string size = text({r, c});
  by_bandwidth("column moments", size, {1}, n,
               [&] { kernels::column_moments(x.data(), 1e-5, mean.data(), variance.data(), divisor.data(), r, c); });
  by_bandwidth("batch_norm", size, {1, 1}, n, [&] { kernels::batch_norm(in, weight.data(), weight.data(), y.data()); });
  by_bandwidth("batch_norm sums", size, {2}, n, [&] { kernels::batch_norm_sums(in, dy.data(), sums); });
  by_bandwidth("batch_norm backward", size, {2, 1}, n,
               [&] { kernels::batch_norm_backward(in, weight.data(), dy.data(), sums, {y.data()}); });
}

void adam(index_t n) {
  const Array gradient = operand(n);
  Array value = operand(n), first(value.shape()), second(value.shape());
  first.fill(0);
  second.fill(0);
  const kernels::AdamStep numbers = {
      .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .step = 1e-5, .v_scale = 1, .l2 = 0, .decay = 0};
  by_bandwidth("adam", text({n}), {1, 0, 3}, n,
               [&] { kernels::adam(numbers, gradient.data(), value.data(), first.data(), second.data(), n); });
}

void permute(const char* name, std::initializer_list<index_t> sizes, std::initializer_list<index_t> strides) {
  index_t n = 1;
  for (const index_t size : sizes) n *= size;
  const kernels::StridedLoop joined = kernels::coalesced(kernels::strided_loop(sizes, strides));
  const Array x = operand(n);
  Array y = empty_array(x.shape());
  by_bandwidth(name, text(sizes), {1, 1}, n, [&] { kernels::copy_from_strided(joined, x.data(), {y.data()}); });
}

/// The matrix products of a workload, each size once.
void products(const char* workload) {
  std::set<std::tuple<index_t, index_t, index_t, bool, bool>> seen;
  for (const Product& p : products_of(sizes_of(workload, false))) {
    if (p.independent || !seen.insert({p.m, p.n, p.k, p.a_transposed, p.b_transposed}).second) continue;
    const Array a = operand(p.m * p.k), b = operand(p.k * p.n);
    Array c = empty_array({p.m * p.n});
    const std::string kind = std::string("gemm ") + (p.a_transposed ? "A^T B" : p.b_transposed ? "A B^T" : "A B");
    by_arithmetic(kind.c_str(), text({p.m, p.n, p.k}), 2.0 * static_cast<double>(p.m * p.n * p.k), [&] {
      kernels::gemm({p.m, p.n, p.k}, {a.data(), p.a_transposed ? p.m : p.k, p.a_transposed},
                    {b.data(), p.b_transposed ? p.k : p.n, p.b_transposed}, {c.data(), p.n});
    });
  }
}

/// Counts the operations that every implementation needs: two products in the forward pass, five in the backward pass
/// (which recomputes the scores); half of them if causal.
void attention(index_t batches, index_t heads, index_t length, index_t width, bool causal) {
  const index_t n = batches * heads * length * width;
  const Array q = operand(n), k = operand(n), v = operand(n), upstream = operand(n);
  Array out = empty_array(q.shape()), dq = empty_array(q.shape()), dk = empty_array(q.shape()),
        dv = empty_array(q.shape());
  std::vector<kernels::SoftmaxRow> sums(static_cast<std::size_t>(batches * heads * length));
  const auto in = [&](const Array& a) {
    return kernels::HeadsIn{a.data(), heads * length * width, length * width, width};
  };
  const auto to = [&](Array& a) {
    return kernels::HeadsOut{{a.data()}, heads * length * width, length * width, width};
  };
  kernels::AttentionProblem problem = {};
  problem.batches = batches;
  problem.heads = problem.key_heads = heads;
  problem.queries = problem.keys = length;
  problem.width = problem.value_width = width;
  problem.scale = static_cast<real>(1 / std::sqrt(static_cast<double>(width)));
  problem.causal = causal;
  problem.q = in(q);
  problem.k = in(k);
  problem.v = in(v);
  const auto pairs = static_cast<double>(causal ? length * (length + 1) / 2 : length * length);
  const double product = 2 * pairs * static_cast<double>(batches * heads * width);
  const std::string size = text({batches, heads, length, width});
  by_arithmetic(causal ? "attention, causal" : "attention", size, 2 * product,
                [&] { kernels::attention(problem, to(out), sums.data()); });
  by_arithmetic(causal ? "attention backward, causal" : "attention backward", size, 5 * product, [&] {
    kernels::attention_backward(problem, in(out), sums.data(), in(upstream), {to(dq), to(dk), to(dv)});
  });
}

/// All steps of an LSTM layer after the product of its inputs: one product with the recurrent weights per step, forward
/// and backward.
void lstm(index_t batch, index_t steps, index_t hidden) {
  const index_t n = batch * steps;
  std::vector<index_t> offset, place;
  for (index_t s = 0; s <= steps; ++s) offset.push_back(s * batch);
  for (index_t row = 0; row < n; ++row) place.push_back(row % batch * steps + row / batch);
  const Array weight = numbers("weight", {4 * hidden, hidden}, 1 / std::sqrt(static_cast<double>(hidden)));
  const Array bias = operand(4 * hidden), dy = operand(n * hidden);
  Array gates = operand(4 * n * hidden), y(dy.shape()), before_h(dy.shape()), before_c(dy.shape()),
        dgates(gates.shape());
  Array last_h = empty_array({batch * hidden}), last_c = empty_array(last_h.shape()), dh = empty_array(last_h.shape()),
        dc = empty_array(last_h.shape());
  for (Array* a : {&before_h, &before_c}) a->fill(0);
  const kernels::RecurrentArrays arrays = {{batch, steps, offset.data(), place.data()},
                                           hidden,
                                           weight.data(),
                                           bias.data(),
                                           gates.data(),
                                           {before_h.data(), last_h.data()},
                                           {before_c.data(), last_c.data()},
                                           y.data()};
  const std::string size = text({batch, steps, hidden});
  const double flops = 8.0 * static_cast<double>(n * hidden * hidden);
  by_arithmetic("lstm", size, flops, [&] { kernels::lstm(arrays); });
  by_arithmetic("lstm backward", size, flops, [&] {
    dh.fill(0);
    dc.fill(0);
    kernels::lstm_backward(arrays, {dy.data(), dh.data(), dc.data(), dgates.data(), nullptr, nullptr});
  });
}

void print_all() {
  std::printf("\nKernels for %s, products by %s, %d threads\n\n", isa_name(), gemm_library(), threads());
  std::printf("| kernel | size | us | rate | limit | share |\n|---|---|---:|---:|---:|---:|\n");
  elementwise(1 << 15);
  elementwise(1 << 20);
  rows(1024, 128);
  rows(2048, 1024);
  batch_norm(128, 256);
  batch_norm(2048, 512);
  adam(1 << 16);
  adam(10'000'000);
  permute("permute (0,2,1,3)", {16, 4, 64, 32}, {64 * 128, 32, 128, 1});
  permute("transpose", {1024, 1024}, {1, 1024});
  for (const char* workload : {"gpt_s", "lstm_s", "lstm_l"}) products(workload);
  lstm(32, 64, 128);
  lstm(32, 64, 512);
  attention(16, 4, 64, 32, true);
  for (const bool causal : {false, true}) attention(1, 4, 1024, 32, causal);
}

}  // namespace

}  // namespace bench

int main() { bench::print_all(); }

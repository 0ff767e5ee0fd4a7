// The cost of every kind of attention: counted operations and bytes beside time and memory, the sizes where one becomes
// cheaper than another, and the loss of each on a text.
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/xtape.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

using namespace xtape;
using namespace xtape::theory;

namespace {

constexpr index_t kWidth = 64, kHeads = 4;

struct Sizes {
  index_t n, width = kWidth, heads = kHeads, features = 0;
};

AttentionConfig config_of(const std::string& name, const Sizes& sizes) {
  AttentionConfig config = attention_config(name, sizes.heads);
  config.features = sizes.features;
  return config;
}

struct Subject {
  ParamStore store;
  MultiHeadAttention layer;

  Subject(const std::string& name, const Sizes& sizes)
      : store(1),
        layer(store.root(), {.width = sizes.width, .heads = sizes.heads, .attention = config_of(name, sizes)}) {}
};

/// One sequence, [1, n, width].
Array input_of(const Sizes& sizes) {
  Array x = empty_array({1, sizes.n, sizes.width});
  Random random(2, "input");
  for (real& value : x) value = static_cast<real>(random.normal());
  return x;
}

double operations(const std::string& name, const Sizes& sizes) {
  return Subject(name, sizes).layer.cost({.queries = sizes.n, .keys = sizes.n}).multiply_adds();
}

/// Processor seconds of one forward pass.
double seconds(const std::string& name, const Sizes& sizes) {
  const Subject subject(name, sizes);
  const Tensor x = input_of(sizes);
  return cpu_seconds([&] { subject.layer(x); }, 3, 0.01);
}

/// Bytes that a forward pass keeps for the backward pass.
double kept_bytes(const std::string& name, const Sizes& sizes) {
  const Subject subject(name, sizes);
  Tape tape;
  const Tensor x = tape.variable(input_of(sizes));
  const std::int64_t before = pool::stats().live_bytes;
  const Tensor y = subject.layer(x);
  return static_cast<double>(pool::stats().live_bytes - before);
}

/// A line of /proc/self/status in bytes, "VmHWM" or "VmRSS"; 0 where there is none.
double status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return 1024 * std::stod(line.substr(key.size() + 1));
  return 0;
}

/// Peak growth of the resident memory in a forward and a backward pass, measured in a child process.
double peak_bytes(const std::string& name, const Sizes& sizes) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("attention_cost", "no pipe for the measurement of memory");
  const pid_t child = fork();
  if (child < 0) throw Error("attention_cost", "no process for the measurement of memory");
  if (child == 0) {
    const double before = status_bytes("VmRSS");
    Subject subject(name, sizes);
    Tape tape;
    tape.backward(sum(subject.layer(tape.variable(input_of(sizes)))));
    const double bytes = status_bytes("VmHWM") - before;
    _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
  }
  close(ends[1]);
  double bytes = 0;
  const bool all = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!all || status != 0) throw Error("attention_cost", "the process that measures memory failed");
  return bytes;
}

/// f at each value of one size.
template <class F>
Curve course(const std::string& name, const std::vector<index_t>& values, const F& f) {
  Curve out{name, {}, {}, false, false};
  for (index_t value : values) out.x.push_back(static_cast<double>(value)), out.y.push_back(f(value));
  return out;
}

double exponent_of_last(const Curve& curve, std::size_t count) {
  const auto from = static_cast<std::ptrdiff_t>(curve.x.size() - count);
  return exponent_of({curve.x.begin() + from, curve.x.end()}, {curve.y.begin() + from, curve.y.end()});
}

std::vector<index_t> doubled(index_t from, index_t to) {
  std::vector<index_t> out;
  for (index_t value = from; value <= to; value *= 2) out.push_back(value);
  return out;
}

const char* const kSource = "docs/attention.md, cost; counted in plain loops by theory_attention";

/// Memory against n: linear where no matrix is stored. Peaks come first, while this process is still small.
void memory(Report& report) {
  Claim claim(report, {"A3", "Memory is linear in n unless the n x n weights are stored.",
                       "n_t n_s numbers a head when stored", kSource});
  const index_t longest = report.quick() ? 1024 : 4096;
  Plot peaks{"Peak memory of a forward and backward pass", "positions n", "MB above the start", true, true, {}};
  Plot keeps{"Memory kept for the backward pass", "positions n", "MB", true, true, {}};
  for (const std::string& name : attention_config_names()) {
    if (name == "mqa" || name == "gqa") continue;
    peaks.curves.push_back(course(name, doubled(256, longest), [&](index_t n) { return peak_bytes(name, {n}) / 1e6; }));
  }
  for (const Curve& peak : peaks.curves) {
    const std::string& name = peak.name;
    const double power = name == "additive" ? 2 : 1;
    keeps.curves.push_back(course(name, doubled(256, 1024), [&](index_t n) { return kept_bytes(name, {n}) / 1e6; }));
    claim.near(name + ": exponent of the bytes kept, n = 512 to 1024", power, exponent_of_last(keeps.curves.back(), 2),
               0.25);
    claim.equal(name + ": counted bytes of stored weights, n = 512",
                power == 2 ? kHeads * 512.0 * 512 * sizeof(real) : 0,
                Subject(name, {512}).layer.cost({.queries = 512, .keys = 512}).score_bytes);
    claim.shown(name + ": exponent of peak memory, last doubling of n", power, exponent_of_last(peak, 2), Rule::near,
                0.3);
  }
  claim.remark(
      "The peak counts resident pages of up to 2 MB and what the pool reuses: below some MB its exponent says little.");
  claim.plot(std::move(keeps));
  claim.plot(std::move(peaks));
}

/// Operations and time against n; the rates in multiply-adds a second at the largest n.
std::map<std::string, Curve> time_over_n(Report& report) {
  Claim claim(report, {"A3", "Softmax kinds cost n^2, linear kinds n, once n is far above 2 d.",
                       "exponent of multiply-adds, and of processor time, over the largest n", kSource});
  std::map<std::string, Curve> out;
  const std::vector<index_t> lengths = doubled(128, report.quick() ? 512 : 8192);
  Plot times{"Time of a forward pass, width 64, 4 heads", "positions n", "processor ms", true, true, {}};
  Plot counts{"Counted operations of the same", "positions n", "multiply-adds", true, true, {}};
  for (const std::string& name : attention_config_names()) {
    const bool linear = is_linear(attention_config(name, kHeads).kind);
    const Curve counted = course(name, doubled(128, 65536), [&](index_t n) { return operations(name, {n}); });
    claim.near(name + ": exponent of counted operations, n = 32768 to 65536", linear ? 1 : 2,
               exponent_of_last(counted, 2), 0.05);
    out[name] = course(name, lengths, [&](index_t n) { return 1e3 * seconds(name, {n}); });
    claim.shown(name + ": exponent of time over the three largest n", linear ? 1 : 2, exponent_of_last(out[name], 3),
                Rule::near, 0.2);
    if (name == "mqa" || name == "gqa") continue;
    times.curves.push_back(out[name]);
    counts.curves.push_back(counted);
  }
  claim.remark(
      "Where n is not far above 2 d, the projections, linear in n, pull the exponents of the n^2 kinds below 2.");
  claim.plot(std::move(times));
  claim.plot(std::move(counts));
  return out;
}

/// n at which `rising` exceeds `other`, by linear interpolation of logarithms; 0 if it does not.
double crossing(const Curve& rising, const Curve& other) {
  for (std::size_t i = 1; i < rising.x.size(); ++i) {
    const double before = std::log(rising.y[i - 1] / other.y[i - 1]), after = std::log(rising.y[i] / other.y[i]);
    if (before < 0 && after >= 0)
      return rising.x[i - 1] * std::pow(rising.x[i] / rising.x[i - 1], before / (before - after));
  }
  return 0;
}

/// The n from which softmax costs more than a linear kind: by operations alone, by operations and rates, by time.
void crossings(Report& report, const std::map<std::string, Curve>& times) {
  Claim claim(report, {"A6", "A linear kind pays from the n on where its operations, at their rate, are fewer.",
                       "operations(softmax)/rate(softmax) = operations(kind)/rate(kind)", kSource});
  const Curve& softmax = times.at("softmax");
  const auto longest = static_cast<index_t>(softmax.x.back());
  const auto rate = [&](const std::string& name) { return operations(name, {longest}) / times.at(name).y.back(); };
  const auto at = [&](const std::string& name, double by_rate) {
    return crossing(course("", doubled(16, 1 << 20),
                           [&](index_t n) { return operations("softmax", {n}) / (by_rate > 0 ? rate("softmax") : 1); }),
                    course("", doubled(16, 1 << 20),
                           [&](index_t n) { return operations(name, {n}) / (by_rate > 0 ? rate(name) : 1); }));
  };
  for (const std::string& name : attention_config_names()) {
    if (!is_linear(attention_config(name, kHeads).kind)) continue;
    const AttentionConfig config = Subject(name, {16}).layer.config();
    const double features = name == "quadratic" ? (config.head_width + 1) * (config.head_width + 2) / 2.0
                            : name == "rff"     ? 2.0 * config.features
                            : name == "prf"     ? 1.0 * config.features
                                                : 1.0 * config.head_width;
    const double counted = at(name, 0);
    if (counted > 0)
      claim.factor(name + ": crossing by operations, beside the number of features", features, counted, 4);
    const double measured = crossing(softmax, times.at(name));
    if (softmax.y.front() > times.at(name).y.front())
      claim.remark(name + ": softmax takes longer from n = 128 on; operations and rates say " +
                   std::to_string(static_cast<index_t>(at(name, 1))) + ".");
    else if (measured > 0)
      claim.shown(name + ": crossing by operations and rates; by time", at(name, 1), measured, Rule::factor, 2);
    else
      claim.remark(name + ": no crossing up to n = " + std::to_string(longest) + "; operations and rates say " +
                   std::to_string(static_cast<index_t>(at(name, 1))) + ".");
  }
}

/// Operations and time against the width d of one head, the number of heads, and the number m of random vectors.
void other_sizes(Report& report) {
  Claim claim(report, {"A3", "Cost over the width, the heads and the random features.",
                       "4 n d^2 + 2 n^2 d; independent of h at fixed h d; n m d for random features", kSource});
  const index_t n = report.quick() ? 256 : 1024;
  for (const char* name : {"softmax", "separable", "elu", "prf"}) {
    const auto sizes = [&](index_t width) { return Sizes{n, width, 1, 64}; };
    const std::vector<index_t> widths = doubled(32, report.quick() ? 128 : 512);
    const Curve counted = course(name, widths, [&](index_t width) { return operations(name, sizes(width)); });
    const Curve timed = course(name, widths, [&](index_t width) { return seconds(name, sizes(width)); });
    claim.shown(std::string(name) + ": exponent in d, counted; in time", exponent_of_last(counted, 2),
                exponent_of_last(timed, 2), Rule::near, 0.3);
  }
  claim.equal("softmax: operations with 1 head beside 8, width 64", operations("softmax", {n, 64, 1}),
              operations("softmax", {n, 64, 8}));
  claim.shown("softmax: time with 8 heads / with 1", 1, seconds("softmax", {n, 64, 8}) / seconds("softmax", {n, 64, 1}),
              Rule::factor, 2);
  claim.remark(
      "Only multiply-adds are counted. Softmax takes n^2 exponentials a head besides: 8 heads of width 8 take 8 times "
      "as "
      "many of them as one head of 64.");
  for (const char* name : {"rff", "prf"}) {
    const auto sizes = [&](index_t features) { return Sizes{n, 64, 1, features}; };
    const std::vector<index_t> many = doubled(64, report.quick() ? 256 : 1024);
    const Curve timed = course(name, many, [&](index_t features) { return seconds(name, sizes(features)); });
    const Curve counted = course(name, many, [&](index_t features) { return operations(name, sizes(features)); });
    claim.shown(std::string(name) + ": exponent in m, counted; in time", exponent_of_last(counted, 2),
                exponent_of_last(timed, 2), Rule::near, 0.2);
  }
}

/// Validation loss of a small language model with each kind.
void quality(Report& report) {
  Claim claim(report, {"A5", "What each kind reaches on a text, with the same sizes, steps and seed.",
                       "validation loss in nats a character; below ln(vocabulary) it has learned", "measured"});
  const TextData text(report.text(), {.context = 64, .seed = report.seed()});
  const std::vector<Batch> validation = text.validation_batches(16, 64);
  Curve losses{"validation loss", {}, {}, false, true};
  double softmax = 0;
  std::string behind;
  const std::vector<std::string> some = {"softmax", "separable", "prf", "argmax"};
  for (const std::string& name : report.quick() ? some : attention_config_names()) {
    ParamStore store(report.seed());
    const TransformerLM model(store.root(), {.vocab = text.vocab(),
                                             .context = 64,
                                             .width = 64,
                                             .heads = 4,
                                             .layers = 2,
                                             .attention = attention_config(name, 4)});
    AdamW opt(decay_groups(store, 0.1), {.beta2 = 0.99});
    for (index_t step = 0; step < report.steps(); ++step) {
      const Batch batch = text.train_batch(step, 8);
      Tape tape;
      tape.backward(cross_entropy(model(batch.inputs), batch.targets));
      clip_grad_norm(store, 1);
      opt.step(cosine(step, {.warmup = 20, .total = report.steps(), .peak = 2e-3}));
      store.zero_grad();
    }
    losses.x.push_back(static_cast<double>(losses.x.size())), losses.y.push_back(mean_loss(store, model, validation));
    if (name == "softmax") softmax = losses.y.back();
    claim.at_most(name + ": validation loss, below 0.9 ln(vocabulary)", 0.9 * std::log(text.vocab()), losses.y.back());
    claim.shown(name + ": beside softmax", softmax, losses.y.back(), Rule::relative, 0.05);
    const double more = losses.y.back() / softmax - 1;
    if (more > 0.05) behind += (behind.empty() ? "" : ", ") + name + " " + number_text(100 * more, "%.0f %%");
  }
  if (!behind.empty())
    claim.remark("Losses above that of softmax by more than 5 %: " + behind +
                 ". Where rows come from a few fixed features they cannot be as sharp as softmax; argmax leaves its "
                 "projections of queries and keys untrained (A9).");
}

void measure(int argc, char** argv) {
  Report report("attention_cost", "Measures what every kind of attention costs and reaches.",
                {.steps = 1500, .quick_steps = 40}, argc, argv);
  memory(report);
  const auto times = time_over_n(report);
  crossings(report, times);
  other_sizes(report);
  quality(report);
  report.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

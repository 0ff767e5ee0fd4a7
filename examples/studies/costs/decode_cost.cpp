// Cached decoding of one attention layer against the length of the cache: bytes that a token reads, and its time.
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/xtape.hpp>

#include <ctime>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

using namespace xtape;
using namespace xtape::theory;

namespace {

constexpr index_t kWidth = 512, kHeads = 8, kBatch = 4;
const std::vector<std::string> kKinds = {"softmax", "gqa", "mqa", "elu", "prf"};

/// A layer whose cache holds `length` positions of each sequence.
struct Decoder {
  ParamStore store;
  MultiHeadAttention layer;
  AttentionCache cache;

  Decoder(const std::string& name, index_t length)
      : store(1),
        layer(store.root(), {.width = kWidth, .heads = kHeads, .attention = attention_config(name, kHeads)}),
        cache(layer.cache(kBatch, 2 * length)) {
    for (index_t done = 0; done < length; done += 128)
      layer.step(Tensor::ones({kBatch, std::min<index_t>(128, length - done), kWidth}), cache);
  }

  /// Processor seconds for one token of every sequence, the least of several runs of so many tokens.
  double seconds_a_token(index_t tokens) {
    const Tensor token = Tensor::ones({kBatch, 1, kWidth});
    double best = 1e300;
    for (int run = 0; run < 3; ++run) {
      const std::clock_t start = std::clock();
      for (index_t i = 0; i < tokens; ++i) layer.step(token, cache);
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / static_cast<double>(tokens));
    }
    return best;
  }
};

/// Numbers that a token reads: parameters once, then keys and values of n positions in each key head.
double numbers_read(const std::string& name, index_t n) {
  const double heads = name == "softmax" ? kHeads : name == "gqa" ? kHeads / 2.0 : 1;
  const double width = static_cast<double>(kWidth) / kHeads;
  return 2.0 * kWidth * kWidth + 2 * kWidth * heads * width + 2.0 * kBatch * static_cast<double>(n) * heads * width;
}

void over_lengths(Report& report) {
  Claim claim(report,
              {"A13", "A token reads d^2 parameters and n keys and values in each key head.",
               "numbers a token: 2 d^2 + 2 d h' k + 2 b n h' k, h' = h (multi-head), h/2 (grouped), 1 (multi-query)",
               "Shazeer 2019, sections 2.4 and 3"});
  const std::vector<index_t> lengths =
      report.quick() ? std::vector<index_t>{128, 512} : std::vector<index_t>{128, 256, 512, 1024, 2048, 4096};
  std::map<std::string, Curve> bytes, times;
  std::ostringstream table;
  table << std::fixed << "    attention   cache        MB  ms/token  tokens/s\n";
  for (const std::string& name : kKinds) {
    bytes[name].name = times[name].name = name;
    for (index_t n : lengths) {
      Decoder decoder(name, n);
      bytes[name].x.push_back(static_cast<double>(n)), times[name].x.push_back(static_cast<double>(n));
      bytes[name].y.push_back(decoder.layer.cost({.batch = kBatch, .keys = n}).bytes() / 1e6);
      if (name != "elu" && name != "prf")
        claim.equal(name + ", cache of " + std::to_string(n) + ": bytes a token", numbers_read(name, n) * sizeof(real),
                    1e6 * bytes[name].y.back());
      const double ms = 1e3 * decoder.seconds_a_token(report.steps());
      times[name].y.push_back(ms);
      table << std::setw(13) << name << std::setw(8) << n << std::setprecision(2) << std::setw(10)
            << bytes[name].y.back() << std::setprecision(3) << std::setw(10) << ms << std::setprecision(0)
            << std::setw(10) << 1e3 * kBatch / ms << '\n';
    }
  }
  std::cout << table.str();
  for (const char* name : {"gqa", "mqa"}) {
    const std::string at = " at " + std::to_string(lengths.back());
    const double by_bytes = bytes["softmax"].y.back() / bytes[name].y.back();
    const double by_time = times["softmax"].y.back() / times[name].y.back();
    claim.shown("softmax / " + std::string(name) + at + ": bytes; processor time", by_bytes, by_time, Rule::factor,
                1.5);
  }
  claim.equal("cache bytes, softmax / mqa: the heads", kHeads,
              Decoder("softmax", 128).cache.bytes() / static_cast<double>(Decoder("mqa", 128).cache.bytes()));
  claim.remark(
      "A token's time falls less than its bytes: the scores of all heads are computed whoever shares the keys.");
  Plot read{
      "Bytes that a token of 4 sequences reads, width 512, 8 heads", "positions in the cache", "MB", true, true, {}};
  Plot time{"Time of a token of 4 sequences", "positions in the cache", "processor ms", true, true, {}};
  for (const std::string& name : kKinds) read.curves.push_back(bytes[name]), time.curves.push_back(times[name]);
  claim.plot(std::move(read));
  claim.plot(std::move(time));
}

void measure(int argc, char** argv) {
  Report report("decode_cost", "Measures cached decoding of one attention layer against the length of the cache.",
                {.steps = 30, .quick_steps = 4}, argc, argv);
  over_lengths(report);
  report.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

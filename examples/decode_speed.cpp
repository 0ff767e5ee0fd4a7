// Measures cached decoding of one attention layer: tokens/s against the length of the cache, beside predicted bytes.
#include <xtape/xtape.hpp>

#include <chrono>
#include <iomanip>
#include <iostream>

using namespace xtape;

/// Seconds for one token of every sequence at about `length` cached positions, the least of several runs.
double seconds_a_token(const MultiHeadAttention& layer, index_t batch, index_t length, index_t tokens) {
  const auto sequences = static_cast<std::size_t>(batch), width = static_cast<std::size_t>(layer.width());
  AttentionCache cache = layer.cache(batch, length + 3 * tokens);
  for (index_t done = 0; done < length; done += 128)
    layer.step(Tensor::ones({sequences, static_cast<std::size_t>(std::min<index_t>(128, length - done)), width}),
               cache);
  const Tensor token = Tensor::ones({sequences, 1, width});
  double best = 1e300;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (index_t i = 0; i < tokens; ++i) layer.step(token, cache);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / static_cast<double>(tokens));
  }
  return best;
}

void measure(int argc, char** argv) {
  Args args("decode_speed", "Measures cached decoding of one attention layer against the length of the cache.",
            {.steps = 50, .quick_steps = 2});
  const auto width = args.integer("width", 512, {1, 8192}, "width of the layer");
  const auto heads = args.integer("heads", 8, {1, 256}, "attention heads; they must divide the width");
  const auto batch = args.integer("batch", 4, {1, 1024}, "sequences side by side");
  const auto longest = args.integer("longest", 4096, {128, 65536}, "longest cache");
  args.parse(argc, argv);

  std::cout << std::setw(10) << "attention" << std::setw(9) << "cache" << std::setw(12) << "tokens/s" << std::setw(12)
            << "ms/token" << std::setw(15) << "predicted MB" << std::setw(12) << "GB/s" << '\n';
  for (const char* name : {"softmax", "gqa", "mqa", "elu", "prf"}) {
    ParamStore store(args.seed());
    const MultiHeadAttention layer(store.root(), {.width = width, .heads = heads, .form = attention_form(name, heads)});
    for (index_t length = 128; length <= longest; length *= 2) {
      const double seconds = seconds_a_token(layer, batch, length, args.steps());
      const double bytes = layer.cost({.batch = batch, .keys = length}).bytes();
      std::cout << std::setw(10) << name << std::setw(9) << length << std::fixed << std::setw(12)
                << std::setprecision(0) << static_cast<double>(batch) / seconds << std::setw(12) << std::setprecision(3)
                << 1e3 * seconds << std::setw(15) << std::setprecision(2) << bytes / 1e6 << std::setw(12)
                << std::setprecision(1) << bytes / seconds / 1e9 << std::endl;
    }
  }
}

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

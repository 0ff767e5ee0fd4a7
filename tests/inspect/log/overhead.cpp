// What full logging costs: CPU time of a training step with a run log at interval 10 over that of a bare step. One
// training goes on through blocks of 10 steps, in turns bare, logged, bare, and with a log that measures nothing: two
// models would lie at other places in memory, and that alone can make a step a third slower. Medians over the rounds;
// bare against bare shows the noise. Exits with 1 if logging costs 5 % or more.
#include <xtape/xtape.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>

using namespace xtape;

namespace {

constexpr index_t kInterval = 10;
constexpr double kLimit = 0.05;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

IndexArray some_ids(std::uint64_t seed, index_t batch, index_t time, index_t vocab) {
  IndexArray ids = empty_array<IndexArray>({batch, time});
  Random random(seed, "ids");
  for (index_t& id : ids) id = static_cast<index_t>(random.uniform() * static_cast<double>(vocab));
  return ids;
}

enum class Block { bare, logged, idle };

/// One training with a log that some of its blocks use.
template <class Model, class Config>
class Training {
 public:
  Training(const Config& config, const std::string& out) : model_(store_.root(), config) {
    const char* argv[] = {"overhead", "--out", out.c_str(), "--steps", "1000000000", "--threads", "1"};
    args_.parse(7, argv);
    log_ = std::make_unique<RunLog>(args_, store_, RunLogOptions{.interval = kInterval, .console = false});
    probe_ = Probe::attached();
  }

  /// CPU seconds of kInterval steps. Of a logged block the first step is measured; of an idle one, none.
  double run(Block block, index_t batch, const std::function<Tensor(const Model&, const IndexArray&)>& logits) {
    if (block != Block::logged) probe_->detach();
    const index_t calls = Probe::calls();
    const double begin = cpu_seconds();
    for (index_t i = 0; i < kInterval; ++i, ++step_) {
      const IndexArray ids = some_ids(static_cast<std::uint64_t>(step_), batch, 64, 65);
      double loss_value = 0;
      {
        Tape tape;
        const Tensor loss = cross_entropy(logits(model_, ids), ids);
        tape.backward(loss);
        loss_value = static_cast<double>(loss.item());
      }
      const double norm = clip_grad_norm(store_, 1.0);
      opt_.step(1e-3);
      const bool left_out = block == Block::idle && i == 0;  // the one due step of the block
      if (block != Block::bare && !left_out)
        log_->step(log_step_, {.loss = loss_value, .lr = 1e-3, .grad_norm = norm}, opt_);
      if (block != Block::bare) ++log_step_;
      store_.zero_grad();
    }
    const double seconds = cpu_seconds() - begin;
    if ((Probe::calls() > calls) != (block == Block::logged)) throw std::logic_error("a probe ran in the wrong block");
    probe_->attach();  // the next step of the log is due
    return seconds;
  }

 private:
  ParamStore store_;
  Model model_;
  AdamW opt_{decay_groups(store_, 0.1)};
  Args args_{"overhead", "One training."};
  std::unique_ptr<RunLog> log_;
  Probe* probe_ = nullptr;
  index_t step_ = 0;
  index_t log_step_ = 0;  // a multiple of kInterval where a block begins
};

double median_of(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

template <class Model, class Config>
bool measure(const char* name, const Config& config, index_t batch, int rounds, const std::string& out,
             const std::function<Tensor(const Model&, const IndexArray&)>& logits) {
  Training<Model, Config> training(config, out);
  const std::vector<Block> blocks = {Block::bare, Block::logged, Block::bare, Block::idle};
  std::vector<std::vector<double>> seconds(blocks.size());
  for (int round = -1; round < rounds; ++round)  // the first warms up
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const double took = training.run(blocks[i], batch, logits);
      if (round >= 0) seconds[i].push_back(took);
    }
  const auto over_bare = [&](std::size_t block) {
    std::vector<double> ratios;  // within a round, so that a slow moment of the machine touches both
    for (std::size_t r = 0; r < seconds[0].size(); ++r)
      ratios.push_back(2 * seconds[block][r] / (seconds[0][r] + seconds[2][r]));
    return median_of(ratios) - 1;
  };
  std::printf(
      "%-8s %2d threads: bare step %.2f ms; full logging every %d steps %+.2f %%; log between logged steps %+.2f %%; "
      "bare against bare %+.2f %%\n",
      name, threads(), 100 * median_of(seconds[0]), static_cast<int>(kInterval), 100 * over_bare(1), 100 * over_bare(3),
      100 * over_bare(2));
  return over_bare(1) < kLimit;
}

}  // namespace

int main() {
  const std::filesystem::path out =
      std::filesystem::temp_directory_path() /
      ("xtape-overhead-" + std::to_string(std::clock()) + std::to_string(std::time(nullptr)));
  set_threads(1);
  const bool gpt = measure<TransformerLM, TransformerLMConfig>(
      "gpt_s", {.vocab = 65, .context = 64, .width = 128, .heads = 4, .layers = 4}, 16, 20, out.string() + "-gpt",
      [](const TransformerLM& model, const IndexArray& ids) { return model(ids); });
  const bool lstm = measure<CharRNN, CharRNNConfig>(
      "lstm_s", {.vocab = 65, .embedding = 64, .hidden = 128}, 32, 60, out.string() + "-lstm",
      [](const CharRNN& model, const IndexArray& ids) { return model(ids).logits; });
  for (const char* model : {"-gpt", "-lstm"}) std::filesystem::remove_all(out.string() + model);
  return gpt && lstm ? 0 : 1;
}

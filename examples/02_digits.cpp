// Trains a multi-layer perceptron to read handwritten digits, beside two baselines that need no training.
// Run: scripts/get_data.sh digits && build/release/examples/digits
#include <xtape/data/image_baselines.hpp>
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>

using namespace xtape;

/// Images [B, P] -> logits [B, 10]: hidden layers dropout(relu(norm(W x + b))), then a linear one.
class Perceptron {
 public:
  struct Config {
    index_t pixels, hidden, layers;
    std::string norm;  ///< "none", "batch" or "layer"
    double dropout;
  };

  Perceptron(const Scope& scope, const Config& config)
      : hidden_(hidden_layers(scope, config)), head_(scope / "head", config.hidden, ImageData::kClasses) {}

  Tensor operator()(Tensor x) const {
    for (const Hidden& layer : hidden_) {
      x = layer.linear(x);
      if (layer.batch_norm) x = (*layer.batch_norm)(x);
      if (layer.layer_norm) x = (*layer.layer_norm)(x);
      x = layer.dropout(relu(x));
    }
    return head_(x);
  }

 private:
  struct Hidden {
    Linear linear;
    std::optional<BatchNorm> batch_norm;
    std::optional<LayerNorm> layer_norm;
    Dropout dropout;
  };

  static std::vector<Hidden> hidden_layers(const Scope& scope, const Config& config) {
    std::vector<Hidden> out;
    for (index_t i = 0; i < config.layers; ++i) {
      const Scope here = scope / "layers" / i;
      Linear linear(here / "linear", i == 0 ? config.pixels : config.hidden, config.hidden);
      out.push_back({std::move(linear), {}, {}, Dropout(here / "dropout", config.dropout)});
      if (config.norm == "batch") out.back().batch_norm.emplace(here / "norm", config.hidden);
      if (config.norm == "layer") out.back().layer_norm.emplace(here / "norm", config.hidden);
    }
    return out;
  }

  std::vector<Hidden> hidden_;
  Linear head_;
};

void train(int argc, char** argv) {
  Args args("digits", "Trains a multi-layer perceptron to read handwritten digits.", {.steps = 500, .quick_steps = 30});
  args.group("Data");
  const auto file =
      args.text("data", "digits.csv.gz", "8x8 digits in CSV; scripts/get_data.sh digits gets the default");
  const auto mnist = args.text("mnist", "", "directory with the four files of MNIST, to be used instead");
  const auto batch_size = args.integer("batch", 64, {2, 4096}, "images in a step");
  args.group("Model");
  const auto norm = args.choice("norm", {"none", "batch", "layer"}, "batch", "normalization in each hidden layer");
  const auto hidden = args.integer("hidden", 128, {1, 4096}, "width of a hidden layer");
  const auto layers = args.integer("layers", 2, {1, 64}, "hidden layers");
  const auto dropout = args.number("dropout", 0.2, {0, 1}, "probability of dropping an activation");
  args.group("Optimization");
  const auto lr = args.number("lr", 2e-3, {0, 1}, "learning rate after 50 steps of warm-up; then it falls to 0");
  const auto weight_decay = args.number("weight-decay", 0.05, {0, 1}, "decoupled weight decay of matrices");
  args.group("Log");
  const auto log_interval = args.integer("log-interval", 100, {1, 1'000'000}, "steps from one line to the next");
  args.group("Checkpoints");
  const auto save_interval =
      args.integer("save-interval", 500, {1, 1'000'000}, "steps from one checkpoint to the next");
  args.resumable({"data", "mnist"});
  args.parse(argc, argv);

  const ImageData data = (*mnist).empty() ? load_digits(file, args.seed()) : load_mnist(mnist, args.seed());
  data.train_items(0, batch_size);  // a batch that is too large is refused before there is a run
  ParamStore store(args.seed());
  const Perceptron model(
      store.root(), {.pixels = data.pixels(), .hidden = hidden, .layers = layers, .norm = norm, .dropout = dropout});
  const auto by_model = [&](const Array& images) { return most_likely_of_rows(model(Tensor(images))); };
  AdamW opt(decay_groups(store, weight_decay));
  RunLog log(args, store, {.interval = log_interval});
  Checkpoints checkpoints(args, store, opt, log, {.interval = save_interval});

  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    const ImageBatch batch = image_batch(data.train(), data.train_items(step, batch_size));
    Tape tape;
    const Tensor loss = cross_entropy(model(Tensor(batch.images)), batch.labels);
    tape.backward(loss);
    const double norm_before = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 50, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm_before)) opt.step(rate);
    log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm_before, .tokens = batch_size}, opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();

  store.eval();
  std::cout << "accuracy on validation images: " << 100 * accuracy(data.validation(), by_model) << " %\n";
  std::cout << std::fixed << std::setprecision(2) << "accuracy on " << data.test().size()
            << " held-out images: " << 100 * accuracy(data.test(), by_model)
            << " % (nearest class mean: " << 100 * accuracy(data.test(), nearest_class_mean(data.train()))
            << " %, nearest neighbor: " << 100 * accuracy(data.test(), nearest_neighbor(data.train())) << " %)"
            << std::endl;
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

// Trains a transformer to tell from which part of the King James text a verse comes, beside a naive-Bayes baseline.
// Run: scripts/get_data.sh kjv && build/release/examples/classify_verses
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>

using namespace xtape;

constexpr std::size_t kParts = kVerseParts.size();
using Examples = std::vector<VerseData::Example>;
using Confusion = std::array<std::array<index_t, kParts>, kParts>;  // [true part][guessed part]

/// Guesses of `classify`, which maps examples to their parts, 200 at a time.
template <class Classify>
Confusion confusion_of(const Examples& examples, const Classify& classify) {
  Confusion out = {};
  for (const Examples& some : groups_of(200, examples)) {
    const std::vector<index_t> guesses = classify(some);
    for (std::size_t i = 0; i < some.size(); ++i) ++out[some[i].part][guesses[i]];
  }
  return out;
}

double accuracy(const Confusion& confusion) {
  index_t right = 0, all = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    right += confusion[part][part];
    for (index_t count : confusion[part]) all += count;
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

void print(const Confusion& confusion) {
  std::cout << "\nverses of (row) taken for (column):\n" << std::setw(17) << "";
  for (const char* part : kVerseParts) std::cout << std::setw(10) << std::string(part).substr(0, 9);
  for (std::size_t part = 0; part < kParts; ++part) {
    std::cout << '\n' << std::setw(17) << kVerseParts[part];
    for (index_t count : confusion[part]) std::cout << std::setw(10) << count;
  }
  std::cout << "\n\n";
}

void train(int argc, char** argv) {
  Args args("classify_verses", "Trains a transformer to tell from which part of the King James text a verse comes.",
            {.steps = 3000, .quick_steps = 30});
  args.group("Data");
  const auto text = args.text("text", "kjv.txt", "a verse a line; scripts/get_data.sh kjv gets it");
  const auto references = args.text("references", "kjv.refs.tsv", "book, chapter and verse of each line");
  const auto batch_size = args.integer("batch", 64, {1, 4096}, "verses in a step");
  const auto word_dropout = args.number("word-dropout", 0.2, {0, 1}, "probability of hiding a word in training");
  args.group("Model");
  const auto width = args.integer("width", 128, {1, 4096}, "width of the model");
  const auto heads = args.integer("heads", 4, {1, 256}, "attention heads; they must divide the width");
  const auto layers = args.integer("layers", 2, {1, 256}, "transformer blocks");
  const auto dropout = args.number("dropout", 0.3, {0, 1}, "probability of dropping an activation");
  const auto attention = args.choice("attention", attention_config_names(), "softmax", "kind of attention");
  const auto pooling = args.choice("pooling", {"mean", "first"}, "mean", "what stands for the verse");
  args.group("Optimization");
  const auto lr = args.number("lr", 1e-3, {0, 1}, "learning rate after 100 steps of warm-up; then it falls to 0");
  const auto weight_decay = args.number("weight-decay", 0.1, {0, 1}, "decoupled weight decay of matrices");
  args.group("Log");
  const auto log_interval = args.integer("log-interval", 100, {1, 1'000'000}, "steps from one line to the next");
  const auto val_interval = args.integer("val-interval", 500, {1, 1'000'000}, "steps from one validation to the next");
  args.parse(argc, argv);

  const VerseData data = load_verses(text, references, {.seed = args.seed()});
  const NaiveBayes baseline = NaiveBayes::chosen(data, {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2});
  ParamStore store(args.seed());
  const TransformerClassifier model(store.root(), {.vocab = data.vocab(),
                                                   .classes = static_cast<index_t>(kParts),
                                                   .context = data.longest(),
                                                   .width = width,
                                                   .heads = heads,
                                                   .layers = layers,
                                                   .attention = attention_config(*attention, heads),
                                                   .dropout = dropout,
                                                   .pooling = *pooling == "mean" ? Pooling::mean : Pooling::first});
  const auto by_model = [&](const Examples& examples) {
    const VerseData::Batch batch = VerseData::batch_of(examples);
    return most_likely_of_rows(model(batch.words.ids, batch.words.padding));
  };
  const auto by_baseline = [&](const Examples& examples) {
    std::vector<index_t> out;
    for (const auto& example : examples) out.push_back(baseline.classify(example.words));
    return out;
  };
  AdamW opt(decay_groups(store, weight_decay), {.beta2 = 0.99});
  RunLog log(args, store, {.interval = log_interval});

  for (index_t step = 0; step < args.steps(); ++step) {
    const VerseData::Batch batch = data.train_batch(step, batch_size, word_dropout);
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.words.ids, batch.words.padding), batch.parts);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 100, .total = args.steps(), .peak = lr});
    const auto tokens = std::ssize(batch.words.ids);
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm, .tokens = tokens}, opt);
    store.zero_grad();
    if (step % val_interval == val_interval - 1) {
      const EvalMode eval(store);
      std::cout << "  validation accuracy " << accuracy(confusion_of(data.validation(), by_model)) << std::endl;
    }
  }
  log.finish();

  store.eval();
  const Confusion confusion = confusion_of(data.test(), by_model);
  print(confusion);
  std::cout << std::fixed << std::setprecision(2) << "accuracy on " << data.test().size()
            << " verses of held-out chapters: " << 100 * accuracy(confusion) << " % (naive Bayes with smoothing "
            << baseline.smoothing() << ": " << 100 * accuracy(confusion_of(data.test(), by_baseline)) << " %)"
            << std::endl;
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

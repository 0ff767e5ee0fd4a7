// Trains a small transformer on a text, character by character, and lets it write.
// Run: scripts/get_data.sh kjv && build/release/examples/char_transformer
#include <xtape/data/utf8.hpp>
#include <xtape/xtape.hpp>

#include <iostream>

using namespace xtape;

/// Reads a text in windows of the model's context and prints what a character of it costs.
void evaluate(const TrainedWeights& trained, const std::string& text_file, index_t heads, index_t context) {
  const IndexArray ids = trained.vocabulary().encode(read_text(find_data(text_file)));
  ParamStore store;
  const TransformerLM model(store.root(), transformer_lm_config_from(trained.shapes(), trained.heads(heads), context));
  trained.load(store);
  const std::vector<Batch> batches = reading_batches(ids, model.config().context, 16);
  std::cout << format_evaluation(mean_loss(store, model, batches), ids) << std::endl;
}

void train(int argc, char** argv) {
  Args args("char_transformer", "Trains a small transformer on a text, character by character, and lets it write.",
            {.steps = 3000, .quick_steps = 30});
  args.group("Data");
  const auto text_file = args.text("text", "kjv.txt", "text in UTF-8; scripts/get_data.sh kjv gets the default");
  const auto context = args.integer("context", 64, {1, 4096}, "characters that the model sees at once");
  const auto batch_size = args.integer("batch", 16, {1, 4096}, "windows of the text in a step");
  args.group("Model");
  const auto width = args.integer("width", 128, {1, 4096}, "width of the model");
  const auto heads = args.integer("heads", 4, {1, 256}, "attention heads; they must divide the width");
  const auto layers = args.integer("layers", 4, {1, 256}, "transformer blocks");
  const auto attention = args.choice("attention", attention_config_names(), "softmax", "kind of attention");
  const auto positions = args.choice("positions", {"learned", "sinusoidal", "rotary", "alibi"}, "learned",
                                     "how the model knows positions");
  const auto dropout = args.number("dropout", 0, {0, 1}, "probability of dropping an activation");
  args.group("Optimization");
  const auto lr = args.number("lr", 2e-3, {0, 1}, "learning rate after 100 steps of warm-up; then it falls to 0");
  const auto weight_decay = args.number("weight-decay", 0.1, {0, 1}, "decoupled weight decay of matrices");
  const auto clip = args.number("clip", 1, {0, 1000}, "largest joint norm of the gradients");
  args.group("Log");
  const auto log_interval = args.integer("log-interval", 50, {1, 1'000'000}, "steps from one line to the next");
  const auto val_interval = args.integer("val-interval", 250, {1, 1'000'000}, "steps from one validation to the next");
  const auto sentence =
      args.text("sentence", "", "whose attention the log keeps; by default the validation text's start");
  args.group("Sample");
  const auto sample = args.integer("sample", 400, {0, 1'000'000}, "characters to write at the end");
  const auto temperature = args.number("temperature", 0.8, {0, 100}, "divides the logits; 0 takes the most likely");
  const auto top_k = args.integer("top-k", 0, {0, 1'000'000}, "draw among so many characters only; 0 for all");
  const auto top_p = args.number("top-p", 1, {1e-9, 1}, "draw among the most likely that together reach it");
  args.group("Checkpoints");
  const auto save_interval =
      args.integer("save-interval", 250, {1, 1'000'000}, "steps from one checkpoint to the next");
  const auto keep = args.integer("keep", 3, {1, 1'000'000}, "checkpoints to keep, besides the best one");
  args.resumable({"text"});
  args.group("Trained weights");
  const TrainedWeightsArgs trained(args);
  args.parse(argc, argv);
  if (trained.given()) return evaluate(TrainedWeights(trained), trained.evaluate, heads, context);

  const TextData text = load_text(text_file, {.context = context, .seed = args.seed()});
  const std::vector<Batch> validation = text.validation_batches(16, 256);
  // The sample goes on from the first validation window. By default the log keeps the attention of its beginning.
  const std::vector<index_t> start(validation.front().inputs.begin(), validation.front().inputs.begin() + context);
  const auto shown = static_cast<std::size_t>(std::min<index_t>(32, context));
  const IndexArray looked_at =
      text.vocabulary().encode((*sentence).empty() ? text.vocabulary().decode(std::span(start).first(shown))
                                                   : std::string(without_byte_order_mark(*sentence)));
  std::vector<std::string> places;  // the characters themselves
  for (index_t id : looked_at) places.push_back(text.vocabulary().decode(std::vector<index_t>{id}));
  ParamStore store(args.seed());
  const TransformerLM model(store.root(), {.vocab = text.vocab(),
                                           .context = context,
                                           .width = width,
                                           .heads = heads,
                                           .layers = layers,
                                           .attention = attention_config(*attention, heads),
                                           .dropout = dropout,
                                           .positions = parse_positions(*positions)});
  AdamW opt(decay_groups(store, weight_decay), {.beta2 = 0.99});
  RunLog log(args, store, {.interval = log_interval});
  const Metadata must_match = {
      {"text", text.fingerprint()}, {"vocabulary", text.vocabulary().symbols()}, {"heads", std::to_string(heads)}};
  Checkpoints checkpoints(args, store, opt, log, {.interval = save_interval, .keep = keep, .must_match = must_match});

  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    std::optional<double> validation_loss;
    if (step % val_interval == 0 || step + 1 == args.steps()) {
      validation_loss = mean_loss(store, model, validation);
      checkpoints.validated(step, *validation_loss);
      const EvalMode eval(store);
      log.attention(step, places, model.attention_weights(looked_at));
    }
    const Batch batch = text.train_batch(step, batch_size);
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, clip);
    const double rate = cosine(step, {.warmup = 100, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step,
             {.loss = loss.item(),
              .validation_loss = validation_loss,
              .lr = rate,
              .grad_norm = norm,
              .tokens = batch_size * context},
             opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();
  save_weights(log.directory() + "/" + run_folder::kWeights, store, must_match);

  store.eval();
  const std::vector<index_t> written =
      generate(model, start,
               {.length = sample, .temperature = temperature, .top_k = top_k, .top_p = top_p, .seed = args.seed()});
  std::cout << "\nA sample:\n" << text.vocabulary().decode(written) << std::endl;
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

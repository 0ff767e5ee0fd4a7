// Trains a recurrent network on a text, character by character, and lets it write.
// Run: scripts/get_data.sh kjv && build/release/examples/char_rnn
#include <xtape/xtape.hpp>

#include <iostream>

using namespace xtape;

/// Reads a text from front to end and prints what a character of it costs.
void evaluate(const TrainedWeights& trained, const std::string& text_file) {
  const IndexArray ids = trained.vocabulary().encode(read_text(find_data(text_file)));
  ParamStore store;
  const CharRNN model(store.root(), char_rnn_config_from(trained.shapes()));
  trained.load(store);
  RecurrentState carried;
  const auto reader = [&](const IndexArray& window) {
    CharRNNOutput out = model(window, carried);
    carried = out.state;
    return out.logits;
  };
  std::cout << format_evaluation(mean_loss(store, reader, reading_batches(ids, 256)), ids) << std::endl;
}

void train(int argc, char** argv) {
  Args args("char_rnn", "Trains a recurrent network on a text, character by character, and lets it write.",
            {.steps = 3000, .quick_steps = 30});
  args.group("Data");
  const auto text_file = args.text("text", "kjv.txt", "text in UTF-8; scripts/get_data.sh kjv gets the default");
  const auto context = args.integer("context", 64, {1, 4096}, "characters through which a gradient passes");
  const auto streams = args.integer("batch", 32, {1, 4096}, "places of the text that are read at the same time");
  args.group("Model");
  const auto cell = args.choice("cell", {"rnn", "gru", "lstm"}, "lstm", "kind of recurrent cell");
  const auto embedding = args.integer("embedding", 64, {1, 4096}, "width of a character's vector");
  const auto hidden = args.integer("hidden", 256, {1, 4096}, "width of the state");
  const auto layers = args.integer("layers", 1, {1, 64}, "recurrent layers");
  const auto gain = args.number("gain", 1, {0, 100}, "size of the orthogonal recurrent weights at the start");
  const auto dropout = args.number("dropout", 0, {0, 1}, "probability of dropping a layer's output");
  args.group("Optimization");
  const auto lr = args.number("lr", 3e-3, {0, 1}, "learning rate after 100 steps of warm-up; then it falls to 0");
  const auto weight_decay = args.number("weight-decay", 0, {0, 1}, "decoupled weight decay of matrices");
  const auto clip = args.number("clip", 1, {0, 1000}, "largest joint norm of the gradients");
  args.group("Log");
  const auto log_interval = args.integer("log-interval", 50, {1, 1'000'000}, "steps from one line to the next");
  const auto val_interval = args.integer("val-interval", 250, {1, 1'000'000}, "steps from one validation to the next");
  const auto sample = args.integer("sample", 400, {0, 1'000'000}, "characters to write at the end");
  args.group("Checkpoints");
  const auto save_interval =
      args.integer("save-interval", 250, {1, 1'000'000}, "steps from one checkpoint to the next");
  const auto keep = args.integer("keep", 3, {1, 1'000'000}, "checkpoints to keep, besides the best one");
  args.resumable({"text"});
  args.group("Trained weights");
  const TrainedWeightsArgs trained(args);
  args.parse(argc, argv);
  if (trained.given()) return evaluate(TrainedWeights(trained), trained.evaluate);

  const TextData text = load_text(text_file, {.context = context, .seed = args.seed()});
  const std::vector<Batch> validation = text.validation_streams(streams, 16);
  ParamStore store(args.seed());
  const CharRNN model(store.root(), {.vocab = text.vocab(),
                                     .cell = parse_cell_kind(*cell),
                                     .embedding = embedding,
                                     .hidden = hidden,
                                     .layers = layers,
                                     .dropout = dropout,
                                     .init = {.recurrent = init::orthogonal(gain)}});
  AdamW opt(decay_groups(store, weight_decay), {.beta2 = 0.99});
  RunLog log(args, store, {.interval = log_interval});
  const Metadata must_match = {{"text", text.fingerprint()}, {"vocabulary", text.vocabulary().symbols()}};
  Checkpoints checkpoints(args, store, opt, log, {.interval = save_interval, .keep = keep, .must_match = must_match});

  // Parallel streams read the text from front to end. The state is carried from batch to batch; gradients stop at the
  // first character of each batch.
  RecurrentState state;
  checkpoints.carry("h", state.h);
  checkpoints.carry("c", state.c);
  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    std::optional<double> validation_loss;
    if (step % val_interval == 0 || step + 1 == args.steps()) {
      RecurrentState carried;
      const auto reader = [&](const IndexArray& ids) {
        CharRNNOutput out = model(ids, carried);
        carried = out.state;
        return out.logits;
      };
      validation_loss = mean_loss(store, reader, validation);
      checkpoints.validated(step, *validation_loss);
    }
    if (step % text.train_stream_windows(streams) == 0) state = {};  // every stream is back at its start
    const Batch batch = text.train_stream(step, streams);
    Tape tape;
    const CharRNNOutput out = model(batch.inputs, state);
    const Tensor loss = cross_entropy(out.logits, batch.targets);
    state = out.state.detach();
    tape.backward(loss);
    const double norm = clip_grad_norm(store, clip);
    const double rate = cosine(step, {.warmup = 100, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step,
             {.loss = loss.item(),
              .validation_loss = validation_loss,
              .lr = rate,
              .grad_norm = norm,
              .tokens = streams * context},
             opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();
  save_weights(log.directory() + "/" + run_folder::kWeights, store, must_match);

  store.eval();
  const IndexArray& start = validation.front().inputs;  // the model goes on from the first validation window
  const std::vector<index_t> written = generate(model, {start.begin(), start.begin() + context},
                                                {.length = sample, .temperature = 0.8, .seed = args.seed()});
  std::cout << "\nA sample:\n" << text.vocabulary().decode(written) << std::endl;
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

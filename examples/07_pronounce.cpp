// Trains an encoder-decoder to say words: letters in, sounds out.
// Run: scripts/get_data.sh cmu && build/release/examples/pronounce
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>

using namespace xtape;

/// The sounds of each word, by beam search.
template <class Model>
std::vector<std::vector<index_t>> said(const Model& model, const std::vector<PronunciationData::Word>& words,
                                       index_t beams, index_t longest) {
  std::vector<std::vector<index_t>> letters;
  for (const PronunciationData::Word& word : words) letters.push_back(word.letters);
  return best_sequences(
      model, letters, PronunciationData::kPadding,
      {.beams = beams, .start = PronunciationData::kStart, .end = PronunciationData::kEnd, .longest = longest});
}

/// How much of each sound's attention goes to each letter.
template <class Model>
std::string attention_of(const Model& model, const PronunciationData& data, const PronunciationData::Word& word,
                         const std::vector<index_t>& sounds) {
  std::vector<index_t> inputs = {PronunciationData::kStart};
  std::vector<std::string> names;
  for (index_t sound : sounds) inputs.push_back(sound), names.push_back(data.sound_name(sound));
  names.push_back("end");
  const PaddedSequences source = padded({word.letters}, PronunciationData::kPadding);
  const Array weights = model.attention_to_source(source.ids, source.padding, padded({inputs}, 0).ids);
  return attention_text(weights, names, word.word);  // weights [1, T, S]
}

void train(int argc, char** argv) {
  Args args("pronounce", "Trains an encoder-decoder to say words: letters in, sounds out.",
            {.steps = 10000, .quick_steps = 30});
  args.group("Data");
  const auto lexicon =
      args.text("lexicon", "cmudict.out", "Festival lexicon; scripts/get_data.sh cmu gets the default");
  const auto batch_size = args.integer("batch", 64, {1, 4096}, "words in a step");
  const auto held_out = args.integer("held-out", 2000, {1, 100'000}, "words for the final measurement");
  const auto validation = args.integer("validation", 200, {1, 100'000}, "words for the measurements on the way");
  args.group("Model");
  const auto kind = args.choice("model", {"transformer", "rnn"}, "transformer", "kind of encoder and decoder");
  const auto width = args.integer("width", 128, {1, 4096}, "width of the model, or of the recurrent states");
  const auto heads = args.integer("heads", 4, {1, 256}, "attention heads of the transformer");
  const auto layers = args.integer("layers", 3, {1, 256}, "transformer blocks on each side");
  const auto attention =
      args.choice("attention", attention_config_names(), "softmax", "kind of attention of the transformer");
  const auto dropout = args.number("dropout", 0.05, {0, 1}, "probability of dropping an activation");
  args.group("Optimization");
  const auto lr = args.number("lr", 1.5e-3, {0, 1}, "learning rate after 400 steps of warm-up; then it falls to 0");
  const auto weight_decay = args.number("weight-decay", 0.01, {0, 1}, "decoupled weight decay of matrices");
  const auto smoothing = args.number("smoothing", 0.1, {0, 1}, "part of each target spread over all sounds");
  args.group("Result");
  const auto beams = args.integer("beams", 4, {1, 64}, "sequences that beam search keeps");
  const auto log_interval = args.integer("log-interval", 100, {1, 1'000'000}, "steps from one line to the next");
  const auto val_interval = args.integer("val-interval", 2000, {1, 1'000'000}, "steps from one validation to the next");
  args.parse(argc, argv);

  const PronunciationData data =
      load_pronunciations(lexicon, {.test_words = held_out, .validation_words = validation, .seed = args.seed()});
  ParamStore store(args.seed());
  const auto run = [&](const auto& model) {
    AdamW opt(decay_groups(store, weight_decay), {.beta2 = 0.98});
    RunLog log(args, store, {.interval = log_interval});
    for (index_t step = 0; step < args.steps(); ++step) {
      const PronunciationData::Batch batch = data.train_batch(step, batch_size);
      Tape tape;
      const Tensor loss = cross_entropy(model(batch.source.ids, batch.source.padding, batch.inputs), batch.targets,
                                        {.label_smoothing = smoothing});
      tape.backward(loss);
      const double norm = clip_grad_norm(store, 1);
      const double rate = cosine(step, {.warmup = 400, .total = args.steps(), .peak = lr});
      const auto tokens = static_cast<index_t>(batch.source.ids.size() + batch.inputs.size());
      if (log.accepts(step, loss.item(), norm)) opt.step(rate);
      log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm, .tokens = tokens}, opt);
      store.zero_grad();
      if (step % val_interval == val_interval - 1) {
        const EvalMode eval(store);
        const auto guesses = said(model, data.validation(), 1, data.longest());
        const double error_rate = pronunciation_errors(data.validation(), guesses).phoneme_error_rate;
        std::cout << "  validation: phoneme error rate " << 100 * error_rate << " %" << std::endl;
      }
    }
    log.finish();

    store.eval();
    const auto guesses = said(model, data.test(), beams, data.longest());
    const PronunciationErrors errors = pronunciation_errors(data.test(), guesses);
    for (std::size_t w = 0; w < std::min<std::size_t>(10, guesses.size()); ++w)
      std::cout << std::setw(16) << data.test()[w].word << "  " << data.sounds_text(guesses[w])
                << "  (lexicon: " << data.sounds_text(data.test()[w].variants.front()) << ")\n";
    std::cout << "\nattention of the sounds of '" << data.test().front().word << "' to its letters, in tenths:\n"
              << attention_of(model, data, data.test().front(), guesses.front());
    std::cout << "\nheld-out words: " << data.test().size() << ", beams: " << *beams << std::fixed
              << std::setprecision(2) << ", phoneme error rate " << 100 * errors.phoneme_error_rate
              << " %, word error rate " << 100 * errors.word_error_rate << " %" << std::endl;
  };

  if (*kind == "rnn")
    run(Seq2SeqRNN(store.root(), {.source_vocab = data.letters(),
                                  .target_vocab = data.sounds(),
                                  .embedding = width,
                                  .hidden = width,
                                  .dropout = dropout}));
  else
    run(Seq2SeqTransformer(store.root(), {.source_vocab = data.letters(),
                                          .target_vocab = data.sounds(),
                                          .context = data.longest(),
                                          .width = width,
                                          .heads = heads,
                                          .encoder_layers = layers,
                                          .decoder_layers = layers,
                                          .dropout = dropout,
                                          .attention = attention_config(*attention, heads)}));
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

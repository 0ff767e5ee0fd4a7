// Trains an encoder-decoder to say words: letters in, sounds out.
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>

using namespace xtape;

using Words = std::vector<PronunciationData::Word>;

/// The sounds of each word, by beam search.
template <class Model>
std::vector<std::vector<index_t>> said(const Model& model, const Words& words, index_t beams, index_t longest) {
  std::vector<std::vector<index_t>> out;
  for (std::size_t first = 0; first < words.size(); first += 100) {
    std::vector<std::vector<index_t>> letters;
    for (std::size_t i = first; i < std::min(first + 100, words.size()); ++i) letters.push_back(words[i].letters);
    const PaddedSequences source = padded(letters, PronunciationData::kPadding);
    auto decoding = model.start(source.ids, source.padding, beams);
    const auto found = beam_search(
        static_cast<index_t>(letters.size()), [&](const IndexArray& sounds) { return model.step(sounds, decoding); },
        [&](const IndexArray& rows) { decoding.select(rows); },
        {.beams = beams, .start = PronunciationData::kStart, .end = PronunciationData::kEnd, .longest = longest});
    for (const std::vector<Hypothesis>& best : found) out.push_back(best.front().tokens);
  }
  return out;
}

std::string sounds_text(const PronunciationData& data, const std::vector<index_t>& sounds) {
  std::string out;
  for (index_t sound : sounds) out += (out.empty() ? "" : " ") + data.sound_name(sound);
  return out;
}

/// How much of each sound's attention goes to each letter: a line a sound, a digit (tenths) a letter.
template <class Model>
void print_attention(const PronunciationData& data, const Model& model, const PronunciationData::Word& word,
                     const std::vector<index_t>& sounds) {
  const PaddedSequences source = padded({word.letters}, PronunciationData::kPadding);
  std::vector<index_t> inputs = {PronunciationData::kStart};
  inputs.insert(inputs.end(), sounds.begin(), sounds.end());
  const Array weights = model.attention_to_source(source.ids, source.padding, padded({inputs}, 0).ids);  // [1, T, S]
  std::cout << "\nattention of the sounds of '" << word.word << "' to its letters, in tenths:\n          ";
  for (char letter : word.word) std::cout << ' ' << letter;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    const std::string name = t < sounds.size() ? data.sound_name(sounds[t]) : "end";
    std::cout << '\n' << std::setw(10) << name;
    for (std::size_t s = 0; s < word.letters.size(); ++s) {
      const int tenths = static_cast<int>(10 * weights(0, t, s));
      std::cout << ' ' << (tenths == 0 ? "." : tenths > 9 ? "9" : std::to_string(tenths));
    }
  }
  std::cout << '\n';
}

struct Settings {
  index_t batch_size, beams, log_interval, val_interval;
  double lr, weight_decay, smoothing;
};

template <class Model>
void run(const Args& args, const PronunciationData& data, const Settings& set, ParamStore& store, const Model& model) {
  AdamW opt(decay_groups(store, set.weight_decay), {.beta2 = 0.98});
  RunLog log(args, store, {.interval = set.log_interval});
  for (index_t step = 0; step < args.steps(); ++step) {
    const PronunciationData::Batch batch = data.train_batch(step, set.batch_size);
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.source.ids, batch.source.padding, batch.inputs), batch.targets,
                                      {.label_smoothing = set.smoothing});
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 400, .total = args.steps(), .peak = set.lr});
    opt.step(rate);
    log.step(step,
             {.loss = loss.item(),
              .lr = rate,
              .grad_norm = norm,
              .tokens = static_cast<index_t>(batch.source.ids.size() + batch.inputs.size())},
             opt);
    store.zero_grad();
    if (step % set.val_interval == set.val_interval - 1) {
      store.eval();
      const PronunciationErrors errors =
          pronunciation_errors(data.validation(), said(model, data.validation(), 1, data.longest()));
      std::cout << "  validation: phoneme error rate " << 100 * errors.phoneme_error_rate << " %" << std::endl;
      store.train();
    }
  }
  log.finish();

  store.eval();
  const auto guesses = said(model, data.test(), set.beams, data.longest());
  const PronunciationErrors errors = pronunciation_errors(data.test(), guesses);
  for (std::size_t w = 0; w < std::min<std::size_t>(10, guesses.size()); ++w)
    std::cout << std::setw(16) << data.test()[w].word << "  " << sounds_text(data, guesses[w])
              << "  (lexicon: " << sounds_text(data, data.test()[w].variants.front()) << ")\n";
  print_attention(data, model, data.test().front(), guesses.front());
  std::cout << "\nheld-out words: " << data.test().size() << ", beams: " << set.beams << std::fixed
            << std::setprecision(2) << ", phoneme error rate " << 100 * errors.phoneme_error_rate
            << " %, word error rate " << 100 * errors.word_error_rate << " %" << std::endl;
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
  const Settings set = {batch_size, beams, log_interval, val_interval, lr, weight_decay, smoothing};
  ParamStore store(args.seed());
  if (*kind == "rnn") {
    run(args, data, set, store,
        Seq2SeqRNN(store.root(), {.source_vocab = data.letters(),
                                  .target_vocab = data.sounds(),
                                  .embedding = width,
                                  .hidden = width,
                                  .dropout = dropout}));
    return;
  }
  run(args, data, set, store,
      Seq2SeqTransformer(store.root(), {.source_vocab = data.letters(),
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

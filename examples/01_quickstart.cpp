// Trains a small transformer on a text. Run: scripts/get_data.sh kjv && build/release/examples/quickstart
#include <xtape/xtape.hpp>

using namespace xtape;

void train(int argc, char** argv) {
  Args args("quickstart", "Trains a small transformer on a text.", {.steps = 1000});
  const auto file = args.text("text", "kjv.txt", "training text");
  const auto lr = args.number("lr", 2e-3, {0, 1}, "peak learning rate");
  args.resumable();
  args.parse(argc, argv);

  const TextData text = load_text(file, {.context = 64, .seed = args.seed()});
  ParamStore store(args.seed());
  const TransformerLM model(store.root(),
                            {.vocab = text.vocab(), .context = 64, .width = 128, .heads = 4, .layers = 4});
  AdamW opt(decay_groups(store, 0.1), {.beta2 = 0.99});
  RunLog log(args, store, {.interval = 50});
  Checkpoints checkpoints(args, store, opt, log, {.interval = 250});

  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    const Batch batch = text.train_batch(step, 16);
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1.0);
    const double rate = cosine(step, {.warmup = 100, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm, .tokens = 16 * 64}, opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }

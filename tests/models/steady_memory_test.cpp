// After the first few steps, the pool serves all allocations of a training step.
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

IndexArray some_tokens(index_t batch, index_t length, index_t step) {
  IndexArray out = empty_array<IndexArray>({batch, length});
  Random random(5, "tokens" + std::to_string(step));
  for (index_t& token : out) token = random.below(40);
  return out;
}

/// Requests to the operating system in steps 5 to 50, and bytes in use beyond those at the start.
struct Seen {
  std::int64_t requests, left_over;
};

template <class Loss>
Seen train_51_steps(ParamStore& store, const Loss& loss_of) {
  AdamW optimizer(decay_groups(store, 0.1));
  pool::Stats at_5 = {};
  for (index_t step = 0; step <= 50; ++step) {
    if (step == 5) at_5 = pool::stats();
    {
      Tape tape;
      tape.backward(loss_of(some_tokens(8, 32, step), some_tokens(8, 32, step + 1)));
      clip_grad_norm(store, 1.0);
      CHECK(optimizer.step(1e-3));
    }
    store.zero_grad();
  }
  const pool::Stats end = pool::stats();
  return {end.system_calls - at_5.system_calls, end.live_bytes - at_5.live_bytes};
}

}  // namespace

TEST_CASE("training a transformer requests no memory from the system after the first few steps") {
  ParamStore store(1);
  const TransformerLM model(store.root(),
                            {.vocab = 40, .context = 32, .width = 64, .heads = 4, .layers = 2, .dropout = 0.1});
  const Seen seen = train_51_steps(store, [&](const IndexArray& inputs, const IndexArray& targets) {
    return cross_entropy(model(inputs), targets);
  });
  if (pool::caching()) CHECK(seen.requests == 0);
  CHECK(seen.left_over == 0);
}

TEST_CASE("training a recurrent model requests no memory from the system after the first few steps") {
  for (const CellKind cell : {CellKind::rnn, CellKind::gru, CellKind::lstm}) {
    CAPTURE(static_cast<int>(cell));
    ParamStore store(1);
    const CharRNN model(store.root(), {.vocab = 40, .cell = cell, .embedding = 24, .hidden = 48, .layers = 2});
    const Seen seen = train_51_steps(store, [&](const IndexArray& inputs, const IndexArray& targets) {
      return cross_entropy(model(inputs).logits, targets);
    });
    if (pool::caching()) CHECK(seen.requests == 0);
    CHECK(seen.left_over == 0);
  }
}

// The encoder-decoder models: transformer and recurrent network.
#include <xtape/models/beam_search.hpp>
#include <xtape/models/seq2seq_rnn.hpp>
#include <xtape/models/seq2seq_transformer.hpp>

#include "support.hpp"

#include <memory>

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr index_t kFirst = 1, kLast = 2;
const Limits kSame = {tolerance(1e-11, 2e-5), tolerance(1e-11, 2e-6)};

/// Calls body(name, store, model) for both models.
template <class Body>
void for_both(const Body& body) {
  ParamStore first(3), second(3);
  body("transformer", first,
       Seq2SeqTransformer(first.root(), {.source_vocab = 9,
                                         .target_vocab = 7,
                                         .context = 8,
                                         .width = 16,
                                         .heads = 2,
                                         .encoder_layers = 1,
                                         .decoder_layers = 2}));
  body("rnn", second, Seq2SeqRNN(second.root(), {.source_vocab = 9, .target_vocab = 7, .embedding = 8, .hidden = 16}));
}

const IndexArray kSource = {{3, 4, 5, 6}, {7, 8, 0, 0}};
const IndexArray kTarget = {{1, 3, 4, 5}, {1, 6, 5, 4}};

}  // namespace

TEST_CASE("encoder-decoders: source padding and later targets change no bit of the logits") {
  for_both([](const char* name, ParamStore&, const auto& model) {
    INFO(name);
    const Mask padding = padding_mask({4, 2}, 4);
    const Array before = model(kSource, padding, kTarget).value();
    IndexArray source = kSource, target = kTarget;
    source(1, 2) = source(1, 3) = 5;
    check_equal(model(source, padding, kTarget).value(), before);
    target(0, 3) = target(1, 3) = 0;
    check_equal(slice(model(kSource, padding, target), 1, 0, 3).value(), slice(Tensor(before), 1, 0, 3).value());
    source(1, 1) = 3;
    CHECK(model(source, padding, kTarget).value() != before);
  });
}

TEST_CASE("encoder-decoders: decoding one token at a time equals the whole, also with several beams") {
  for_both([](const char* name, ParamStore&, const auto& model) {
    INFO(name);
    const Mask padding = padding_mask({4, 2}, 4);
    const Tensor whole = model(kSource, padding, kTarget);
    auto decoding = model.start(kSource, padding, 2);
    for (std::size_t t = 0; t < 4; ++t) {
      IndexArray tokens = empty_array<IndexArray>({4, 1});
      for (std::size_t row = 0; row < 4; ++row) tokens(row, 0) = kTarget(row / 2, t);
      const Tensor logits = model.step(tokens, decoding);
      for (index_t row = 0; row < 4; ++row)
        check_near(slice(logits, 0, row, row + 1).value(),
                   slice(slice(whole, 0, row / 2, row / 2 + 1), 1, static_cast<index_t>(t), static_cast<index_t>(t) + 1)
                       .value(),
                   kSame);
      decoding.select(IndexArray{1, 1, 3, 2});
    }
    check_throws<ValueError>([&] { model.start(kSource, padding, 0); }, "at least 1 beam");
  });
}

TEST_CASE("encoder-decoders learn to reverse sequences and generate them by beam search") {
  for_both([](const char* name, ParamStore& store, const auto& model) {
    INFO(name);
    AdamW optimizer(decay_groups(store, 0.0));
    double last = 0;
    for (index_t step = 0; step < 250; ++step) {
      Random random(5, static_cast<std::uint64_t>(step));
      IndexArray source = empty_array<IndexArray>({16, 3}), inputs = full_array<IndexArray>({16, 4}, kFirst),
                 targets = full_array<IndexArray>({16, 4}, kLast);
      for (std::size_t b = 0; b < 16; ++b)
        for (std::size_t t = 0; t < 3; ++t) source(b, t) = targets(b, 2 - t) = inputs(b, 3 - t) = 3 + random.below(4);
      Tape tape;
      const Tensor loss = cross_entropy(model(source, {}, inputs), targets);
      tape.backward(loss);
      clip_grad_norm(store, 1);
      optimizer.step(step < 200 ? 5e-3 : 1e-3);
      store.zero_grad();
      last = static_cast<double>(loss.item());
    }
    CHECK(last < 0.2);
    const IndexArray source = {{3, 4, 5}, {6, 6, 3}};
    auto decoding = model.start(source, {}, 3);
    const auto said = beam_search(
        2, [&](const IndexArray& tokens) { return model.step(tokens, decoding); },
        [&](const IndexArray& rows) { decoding.select(rows); },
        {.beams = 3, .start = kFirst, .end = kLast, .longest = 6});
    CHECK(said[0][0].tokens == std::vector<index_t>{5, 4, 3});
    CHECK(said[1][0].tokens == std::vector<index_t>{3, 6, 6});
    const Array attention = model.attention_to_source(source, {}, IndexArray{{1, 5, 4, 3}, {1, 3, 6, 6}});
    CHECK(attention.shape() == Shape{2, 4, 3});
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < 4; ++t)
        check_near(attention(b, t, 0) + attention(b, t, 1) + attention(b, t, 2), 1, {0, 1e-5});
  });
}

TEST_CASE("encoder-decoders refuse invalid inputs and configurations") {
  ParamStore store;
  check_throws<ValueError>([&] { Seq2SeqTransformer(store.root(), {.source_vocab = 0, .target_vocab = 7}); },
                           "[seq2seq_transformer] expected vocabularies, context and layers of at least 1, got");
  check_throws<ValueError>([&] { Seq2SeqRNN(store.root() / "r", {.source_vocab = 9, .target_vocab = 0}); },
                           "at least 1");
  for_both([](const char* name, ParamStore&, const auto& model) {
    INFO(name);
    check_throws<IndexError>(
        [&] { model(full_array<IndexArray>({1, 1}, index_t{9}), {}, full_array<IndexArray>({1, 1}, index_t{1})); },
        "9");
    check_throws<ShapeError>(
        [&] { model(full_array<IndexArray>({1}, index_t{1}), {}, full_array<IndexArray>({1, 1}, index_t{1})); },
        ", got (1)");
  });
  ParamStore other;
  const Seq2SeqTransformer model(other.root(),
                                 {.source_vocab = 9, .target_vocab = 7, .context = 3, .width = 8, .heads = 2});
  check_throws<ShapeError>([&] { model.encode(IndexArray{{1, 2, 3, 4}}, {}); }, "expected at most 3 positions, got 4");
  ParamStore third;
  const Seq2SeqRNN rnn(third.root(), {.source_vocab = 9, .target_vocab = 7, .hidden = 4});
  check_throws<ValueError>([&] { rnn.start(IndexArray{{1, 2}}, mask({1, 2}, {true, false})); },
                           "expected padding on the right, got");
}

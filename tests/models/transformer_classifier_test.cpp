#include <xtape/models/transformer_classifier.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("TransformerClassifier: padding changes no bit of the logits, with both poolings") {
  for (const Pooling pooling : {Pooling::mean, Pooling::first}) {
    ParamStore store(3);
    const TransformerClassifier model(
        store.root(), {.vocab = 9, .classes = 4, .context = 6, .width = 8, .heads = 2, .pooling = pooling});
    const Mask padding = padding_mask({5, 2, 0}, 5);
    const IndexArray ids = {{1, 2, 3, 4, 5}, {6, 7, 0, 0, 0}, {0, 0, 0, 0, 0}};
    IndexArray changed = ids;
    for (std::size_t t = 0; t < 5; ++t) changed(2, t) = 8;
    for (std::size_t t = 2; t < 5; ++t) changed(1, t) = 8;
    const Tensor logits = model(ids, padding);
    check_equal(model(changed, padding).value(), logits.value());
    CHECK(model(changed).value() != model(ids).value());
    for (std::size_t c = 0; c < 4; ++c) CHECK(logits.value()(2, c) == store.parameter("head.bias").value()(c));
  }
}

TEST_CASE("TransformerClassifier learns which of two words comes first") {
  for (const char* name : {"softmax", "mqa", "additive", "elu", "prf"}) {
    INFO(name);
    ParamStore store(3);
    const TransformerClassifier model(store.root(), {.vocab = 6,
                                                     .classes = 2,
                                                     .context = 8,
                                                     .width = 16,
                                                     .heads = 2,
                                                     .layers = 2,
                                                     .attention = attention_config(name, 2)});
    AdamW optimizer(decay_groups(store, 0.0));
    double late = 0;
    for (index_t step = 0; step < 300; ++step) {
      Random random(5, static_cast<std::uint64_t>(step));
      IndexArray ids = empty_array<IndexArray>({16, 8}), classes = empty_array<IndexArray>({16});
      for (std::size_t b = 0; b < 16; ++b) {
        for (std::size_t t = 0; t < 8; ++t) ids(b, t) = random.below(4);
        const auto first = static_cast<std::size_t>(random.below(4)),
                   second = 4 + static_cast<std::size_t>(random.below(4));
        classes(b) = random.below(2);
        ids(b, first) = 4 + classes(b);
        ids(b, second) = 5 - classes(b);
      }
      Tape tape;
      const Tensor loss = cross_entropy(model(ids), classes);
      tape.backward(loss);
      clip_grad_norm(store, 1);
      optimizer.step(3e-3);
      store.zero_grad();
      if (step >= 280) late += static_cast<double>(loss.item()) / 20;
    }
    CHECK(late < 0.2);  // guessing has a loss of ln 2
  }
}

TEST_CASE("TransformerClassifier refuses invalid inputs and configurations") {
  ParamStore store;
  check_throws<ValueError>([&] { TransformerClassifier(store.root(), {.vocab = 0, .classes = 2}); },
                           "[transformer_classifier] expected vocab, classes, context and layers of at least 1, got");
  check_throws<ValueError>([&] { TransformerClassifier(store.root() / "a", {.vocab = 5, .classes = 0}); },
                           "at least 1");
  const TransformerClassifier model(store.root() / "b",
                                    {.vocab = 5, .classes = 2, .context = 3, .width = 8, .heads = 2});
  check_throws<ShapeError>([&] { model(IndexArray{{1, 2, 3, 4}}); }, "T from 1 to 3, got (1,4)");
  check_throws<ShapeError>([&] { model(IndexArray{1, 2}); }, "expected ids [B, T]");
  check_throws<ShapeError>([&] { model(IndexArray{{1, 2}}, empty_array<Mask>({1, 3})); },
                           "expected a padding of shape (");
  check_throws<IndexError>([&] { model(full_array<IndexArray>({1, 1}, index_t{5})); }, "5");
}

// What stands at padded positions touches no value and no gradient, whatever it is.
#include <xtape/models/padding.hpp>
#include <xtape/models/seq2seq_rnn.hpp>
#include <xtape/models/seq2seq_transformer.hpp>

#include "support.hpp"

#include <functional>

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr index_t kPad = 0;
const IndexArray kIds = {{1, 2, 3, 4, 5}, {6, 7, kPad, kPad, kPad}, {kPad, kPad, kPad, kPad, kPad}};
const Mask kPadding = padding_mask({5, 2, 0}, 5);

/// The output of a model and the gradients of its parameters, with a row of `embedding` for the padding that is `pad`.
std::vector<std::pair<std::string, Array>> outcome(ParamStore& store, const std::string& embedding, double pad,
                                                   const std::function<Tensor()>& model) {
  Parameter rows = store.parameter(embedding);
  std::fill_n(rows.edit() + kPad * rows.shape()[1], rows.shape()[1], static_cast<real>(pad));
  store.zero_grad();
  Tape tape;
  const Tensor y = model();
  std::vector<std::pair<std::string, Array>> out = {{"output", y.value()}};
  Array dy = counting(y.shape());
  for (real& g : dy) g = std::cos(g);
  tape.backward(y, dy);
  for (const Parameter& parameter : store.parameters())
    if (parameter.has_grad()) out.emplace_back(parameter.name(), parameter.grad());
  return out;
}

void check_untouched(ParamStore& store, const std::string& embedding, const std::function<Tensor()>& model) {
  const auto want = outcome(store, embedding, 0.5, model);
  for (const double pad : {0.0, -1e30, kInf, kNaN}) {
    const auto got = outcome(store, embedding, pad, model);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO(got[i].first, ", padding ", pad);
      check_equal(got[i].second, want[i].second);
      for (real x : got[i].second) REQUIRE(std::isfinite(x));
    }
  }
}

}  // namespace

TEST_CASE("TransformerClassifier: padded rows of any content touch nothing") {
  for (const std::string kind : {"softmax", "gqa", "additive", "elu", "prf", "separable", "argmax"})
    for (const Pooling pooling : {Pooling::mean, Pooling::first}) {
      INFO(kind);
      ParamStore store(3);
      const TransformerClassifier model(store.root(), {.vocab = 9,
                                                       .classes = 4,
                                                       .context = 6,
                                                       .width = 8,
                                                       .heads = 2,
                                                       .attention = attention_config(kind, 2),
                                                       .pooling = pooling});
      check_untouched(store, "embedding.weight", [&] { return model(kIds, kPadding); });
    }
}

TEST_CASE("encoder-decoders: padded rows of the source of any content touch nothing") {
  const IndexArray target = {{1, 3, 4}, {1, 5, 2}, {1, 2, 2}};
  ParamStore first(3), second(3);
  const Seq2SeqTransformer transformer(first.root(), {.source_vocab = 9,
                                                      .target_vocab = 7,
                                                      .context = 8,
                                                      .width = 8,
                                                      .heads = 2,
                                                      .encoder_layers = 2,
                                                      .decoder_layers = 1});
  check_untouched(first, "source_embedding.weight", [&] { return transformer(kIds, kPadding, target); });
  Array memory = transformer.encode(kIds, kPadding).value(), broken = memory;
  std::fill_n(broken.data() + 7 * 8, 8 * 8, real(kNaN));  // from the padding of the second source to the end
  check_equal(transformer.decode(target, Tensor(broken), kPadding).value(),
              transformer.decode(target, Tensor(memory), kPadding).value());
  first.zero_grad();
  {
    Tape tape;
    tape.backward(sum(transformer.decode(target, Tensor(broken), kPadding)));
  }
  for (const Parameter& parameter : first.parameters())
    if (parameter.has_grad())
      for (real g : parameter.grad()) REQUIRE(std::isfinite(g));
  const Seq2SeqRNN recurrent(second.root(), {.source_vocab = 9, .target_vocab = 7, .embedding = 4, .hidden = 8});
  check_untouched(second, "source_embedding.weight", [&] { return recurrent(kIds, kPadding, target); });
  for (const Mask& wrong : {empty_array<Mask>({3, 4}), mask({}, {true})}) {
    check_throws<ShapeError>([&] { transformer(kIds, wrong, target); }, "expected a padding of shape (");
    check_throws<ShapeError>([&] { recurrent(kIds, wrong, target); }, "expected a padding of shape (");
  }
}

TEST_CASE("cached decoding: padded tokens of a chunk, of any content, touch nothing") {
  for (const std::string kind : {"softmax", "mqa", "additive", "elu", "prf", "separable"}) {
    INFO(kind);
    ParamStore store(3);
    const TransformerLM model(
        store.root(),
        {.vocab = 9, .context = 8, .width = 8, .heads = 2, .layers = 2, .attention = attention_config(kind, 2)});
    Parameter rows = store.parameter("token_embedding.weight");
    std::vector<Array> want;
    for (const double pad : {0.5, -1e30, kInf, kNaN}) {
      INFO("padding ", pad);
      std::fill_n(rows.edit(), 8, static_cast<real>(pad));
      TransformerCache cache = model.cache(2);
      const Tensor first = model.step(IndexArray{{1, 2, 3}, {4, kPad, kPad}}, cache, IndexArray{3, 1});
      const Tensor second = model.step(IndexArray{{5, 6}, {7, kPad}}, cache, IndexArray{2, 1});
      const Tensor third = model.step(indices({2, 1}, {8, 1}), cache);
      const std::vector<Array> got = {slice(first, 0, 0, 1).value(), slice(slice(first, 0, 1, 2), 1, 0, 1).value(),
                                      slice(slice(second, 0, 1, 2), 1, 0, 1).value(), third.value()};
      if (want.empty()) want = got;
      for (std::size_t i = 0; i < got.size(); ++i) {
        check_equal(got[i], want[i]);
        for (real x : got[i]) REQUIRE(std::isfinite(x));
      }
    }
  }
}

TEST_CASE("models over no steps, no sequences and empty sources") {
  ParamStore store(3);
  const TransformerLM model(store.root() / "lm", {.vocab = 5, .context = 4, .width = 8, .heads = 2, .layers = 1});
  CHECK(model(empty_array<IndexArray>({2, 0})).shape() == Shape{2, 0, 5});
  TransformerCache cache = model.cache(1);
  CHECK(model.step(empty_array<IndexArray>({1, 0}), cache).shape() == Shape{1, 0, 5});
  check_equal(model.step(full_array<IndexArray>({1, 1}, index_t{2}), cache).value(),
              model(full_array<IndexArray>({1, 1}, index_t{2})).value());
  const Seq2SeqTransformer transformer(store.root() / "t",
                                       {.source_vocab = 9, .target_vocab = 7, .context = 8, .width = 8, .heads = 2});
  const Seq2SeqRNN recurrent(store.root() / "r", {.source_vocab = 9, .target_vocab = 7, .embedding = 4, .hidden = 8});
  const IndexArray target = {{1, 3}, {1, 5}};
  const Mask all = padding_mask({0, 0}, 2);
  for (const bool cut : {false, true}) {
    const IndexArray source = cut ? empty_array<IndexArray>({2, 0}) : full_array<IndexArray>({2, 2}, index_t{0});
    const Mask padding = cut ? empty_array<Mask>({2, 0}) : all;
    for (const Tensor& y : {transformer(source, padding, target), recurrent(source, padding, target)})
      for (real x : y.value()) REQUIRE(std::isfinite(x));
  }
}

#include "overfit_tasks.hpp"

#include <xtape/data/images.hpp>

#include <memory>
#include <numeric>

namespace xtape::examples {

namespace {

constexpr index_t kReadingBatch = 50;
constexpr double kDigitsTrained = 0.1, kDigitsShare = 0.4;  // for training; for validation
constexpr std::uint64_t kDigitsSplit = 0;                   // the same for every seed of a run

/// A piece of a text in three parts.
class TextPiece {
 public:
  TextPiece(const std::string& file, const OverfitOptions& options, std::uint64_t seed)
      : context_(options.context), seed_(seed) {
    const std::string text = read_text(find_data(file));
    const Vocabulary vocabulary = Vocabulary::characters(text);
    const IndexArray ids = vocabulary.encode(text);
    vocab_ = vocabulary.size();
    if (numel(ids) < options.train_symbols + 2 * options.other_symbols)
      throw ValueError("overfit_task", file + " has only " + std::to_string(ids.size()) + " symbols");
    auto cut = [begin = ids.begin()](index_t count) mutable {
      const auto from = begin;
      begin += count;
      return std::vector<index_t>(from, begin);
    };
    train_ = cut(options.train_symbols);
    validation_ = cut(options.other_symbols);
    test_ = cut(options.other_symbols);
  }

  index_t vocab() const { return vocab_; }

  Batch windows(index_t step, index_t batch) const {
    Random random(seed_, substream(stream_id("overfit windows"), static_cast<std::uint64_t>(step)));
    const Shape shape = {batch, context_};
    Batch out{empty_array<IndexArray>(shape), empty_array<IndexArray>(shape)};
    for (index_t b = 0; b < batch; ++b) {
      const auto from = train_.begin() + random.below(std::ssize(train_) - context_);
      std::copy_n(from, context_, out.inputs.begin() + b * context_);
      std::copy_n(from + 1, context_, out.targets.begin() + b * context_);
    }
    return out;
  }

  /// As much of the training part as of the other parts, so that all cost the same.
  std::vector<Batch> reading(Part part) const {
    const std::vector<index_t>& all = part == Part::train ? train_ : part == Part::test ? test_ : validation_;
    IndexArray ids = empty_array<IndexArray>({std::min(std::ssize(all), std::ssize(validation_))});
    std::copy_n(all.begin(), ids.size(), ids.begin());
    return reading_batches(ids, context_, kReadingBatch);
  }

 private:
  index_t context_, vocab_ = 0;
  std::uint64_t seed_;
  std::vector<index_t> train_, validation_, test_;
};

/// `model` maps ids to logits.
OverfitTask text_task(ParamStore& store, const std::shared_ptr<const TextPiece>& text, index_t batch,
                      const std::function<Tensor(const IndexArray& ids)>& model) {
  OverfitTask out;
  out.train_loss = [text, batch, model](index_t step) {
    const Batch windows = text->windows(step, batch);
    return cross_entropy(model(windows.inputs), windows.targets);
  };
  out.loss = [&store, text, model](Part part) { return mean_loss(store, model, text->reading(part)); };
  out.tokens = static_cast<index_t>(text->windows(0, batch).targets.size());
  return out;
}

struct DigitsModel {
  Linear in, middle, out;

  DigitsModel(const Scope& scope, index_t pixels, index_t width)
      : in(scope / "in", pixels, width), middle(scope / "middle", width, width), out(scope / "out", width, 10) {}
  Tensor operator()(const Array& images) const { return out(relu(middle(relu(in(images))))); }
};

OverfitTask digits_task(ParamStore& store, const std::string& file, const OverfitOptions& o) {
  const ImageSet all = read_csv_images(find_data(file), 8, 8, 16);
  const auto images = std::make_shared<const ImageData>(
      ImageData::split(all, kDigitsShare, 1 - kDigitsShare - kDigitsTrained, kDigitsSplit));
  const auto model = std::make_shared<const DigitsModel>(store.root(), images->pixels(), 4 * o.width);
  const auto loss = [model](const ImageSet& set, const std::vector<index_t>& items) {
    const ImageBatch batch = image_batch(set, items);
    return cross_entropy((*model)(batch.images), batch.labels);
  };
  OverfitTask out;
  out.train_loss = [images, loss, seed = store.seed(), batch = o.batch](index_t step) {
    const ImageSet& set = images->train();
    Random random(seed, substream(stream_id("overfit images"), static_cast<std::uint64_t>(step)));
    std::vector<index_t> items;
    for (index_t b = 0; b < batch; ++b) items.push_back(random.below(std::ssize(set)));
    return loss(set, items);
  };
  out.loss = [images, loss](Part part) {
    const ImageSet& set = part == Part::train  ? images->train()
                          : part == Part::test ? images->test()
                                               : images->validation();
    std::vector<index_t> items(set.size());
    std::iota(items.begin(), items.end(), 0);
    return static_cast<double>(loss(set, items).item());
  };
  out.tokens = o.batch;
  return out;
}

}  // namespace

OverfitTask overfit_task(const std::string& name, ParamStore& store, const std::string& file, const OverfitOptions& o) {
  if (name == "transformer") {
    const auto text = std::make_shared<const TextPiece>(file, o, store.seed());
    const TransformerLMConfig config = {
        .vocab = text->vocab(), .context = o.context, .width = o.width, .heads = 4, .layers = 2};
    const auto model = std::make_shared<const TransformerLM>(store.root(), config);
    return text_task(store, text, o.batch, [model](const IndexArray& ids) { return (*model)(ids); });
  }
  if (name == "lstm") {
    const auto text = std::make_shared<const TextPiece>(file, o, store.seed());
    const CharRNNConfig config = {.vocab = text->vocab(), .embedding = o.width, .hidden = 2 * o.width};
    const auto model = std::make_shared<const CharRNN>(store.root(), config);
    return text_task(store, text, o.batch, [model](const IndexArray& ids) { return (*model)(ids).logits; });
  }
  if (name == "digits") return digits_task(store, file, o);
  throw ValueError("overfit_task", "there is no task '" + name + "'");
}

}  // namespace xtape::examples

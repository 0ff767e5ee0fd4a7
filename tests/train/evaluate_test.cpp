#include <xtape/train/evaluate.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// A batch of targets that are all `target`.
Batch batch(index_t rows, index_t columns, index_t target) {
  const Shape shape = {rows, columns};
  Batch out{empty_array<IndexArray>(shape), empty_array<IndexArray>(shape)};
  out.inputs.fill(0);
  out.targets.fill(target);
  return out;
}

}  // namespace

TEST_CASE("the mean loss weighs every target alike, in eval mode") {
  ParamStore store;
  bool training = true;
  const auto model = [&](const IndexArray& inputs) {  // probabilities 0.2 and 0.8 everywhere
    training = store.training();
    Array logits = empty_array({shape_of(inputs)[0], shape_of(inputs)[1], 2});
    for (std::size_t i = 0; i < logits.size(); ++i) logits.data()[i] = static_cast<real>(std::log(i % 2 ? 0.8 : 0.2));
    return Tensor(logits);
  };
  const std::vector<Batch> batches = {batch(3, 2, 0), batch(1, 2, 1)};
  check_near(mean_loss(store, model, batches), -(6 * std::log(0.2) + 2 * std::log(0.8)) / 8,
             {tolerance(1e-14, 1e-6), 0});
  CHECK(!training);
  CHECK(store.training());
  store.eval();
  mean_loss(store, model, batches);
  CHECK(!store.training());
  store.train();
  check_throws<IndexError>([&] { mean_loss(store, model, {batch(1, 1, 2)}); }, "");
  CHECK(store.training());
  check_throws<ValueError>([&] { mean_loss(store, model, {}); }, "[mean_loss] expected at least 1 batch, got 0");
}

#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

struct Data {
  IndexArray inputs, targets;  // [B, T]
};

/// Four sequences of five tokens, with 5, 2, 0 and 1 targets that are not ignored.
Data data() {
  Data out{empty_array<IndexArray>({4, 5}), empty_array<IndexArray>({4, 5})};
  Random random(3, "tokens");
  const std::size_t counted[] = {5, 2, 0, 1};
  for (std::size_t i = 0; i < 20; ++i) {
    out.inputs.data()[i] = random.below(7);
    out.targets.data()[i] = i % 5 < counted[i / 5] ? random.below(7) : kIgnore;
  }
  return out;
}

IndexArray rows(const IndexArray& x, index_t begin, index_t end) {
  IndexArray out = empty_array<IndexArray>({end - begin, shape_of(x)[1]});
  std::copy_n(x.data() + begin * x.shape()[1], out.size(), out.data());
  return out;
}

struct Model {
  ParamStore store{4};
  Embedding embedding{store.root() / "embedding", 7, 6};
  Linear head{store.root() / "head", 6, 7};

  Tensor loss(const Data& d, index_t begin, index_t end, Reduction reduction) const {
    return cross_entropy(head(tanh(embedding(rows(d.inputs, begin, end)))), rows(d.targets, begin, end),
                         {.reduction = reduction});
  }
};

}  // namespace

TEST_CASE("accumulation: small batches of any size give the gradient and the step of the large one") {
  const Data d = data();
  Model large;
  Tape tape;
  tape.backward(large.loss(d, 0, 4, Reduction::mean));
  AdamW large_optimizer(all_parameters(large.store, 0.1));

  const std::vector<std::vector<std::size_t>> splits = {{0, 1, 2, 3, 4}, {0, 3, 4}, {0, 2, 4}};
  const Limits limits{tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)};
  for (const std::vector<std::size_t>& split : splits) {
    Model small;
    index_t count = 0;
    for (std::size_t i = 0; i + 1 < split.size(); ++i) {
      Tape part;
      part.backward(small.loss(d, split[i], split[i + 1], Reduction::sum));
      count += count_targets(rows(d.targets, split[i], split[i + 1]));
    }
    CHECK(count == 8);
    divide_grads(small.store, count);
    for (const Parameter& parameter : small.store.parameters())
      check_near(parameter.grad(), large.store.parameter(parameter.name()).grad(), limits);
    check_near(clip_grad_norm(small.store, 1e9), clip_grad_norm(large.store, 1e9), limits);
  }
}

TEST_CASE("accumulation: the mean of the batch means is a different gradient if the counts differ") {
  const Data d = data();
  Model large, small;
  Tape tape;
  tape.backward(large.loss(d, 0, 4, Reduction::mean));
  for (std::size_t i = 0; i < 4; ++i) {
    Tape part;
    part.backward(small.loss(d, i, i + 1, Reduction::mean));
  }
  divide_grads(small.store, 4);
  const double right = large.head.weight.grad_norm(), wrong = small.head.weight.grad_norm();
  CHECK(std::abs(right - wrong) > 0.01 * right);
}

TEST_CASE("accumulation: parameters without a gradient get none, and a count of zero leaves gradients unchanged") {
  Parameter p("p", row({1, 2})), none("none", row({1}));
  p.set_grad(row({3, 6}));
  divide_grads({p, none}, 3);
  check_near(p.grad(), row({1, 2}));
  CHECK_FALSE(none.has_grad());
  divide_grads({p}, 0);
  check_near(p.grad(), row({1, 2}));
}

TEST_CASE("accumulation: dividing clears the cached norm") {
  Parameter p("p", row({0, 0}));
  p.set_grad(row({3, 4}));
  clip_grad_norm({p}, 10);
  divide_grads({p}, 5);
  check_near(p.grad_norm(), 1);
}

TEST_CASE("accumulation: count_targets ignores ignored targets") {
  CHECK(count_targets(IndexArray{{3, kIgnore}, {0, 1}}) == 3);
  CHECK(count_targets(IndexArray{{3, kIgnore}, {0, 1}}, 3) == 3);
  CHECK(count_targets(empty_array<IndexArray>({0, 4})) == 0);
}

TEST_CASE("accumulation: a negative count is refused") {
  Parameter p("p", row({1}));
  check_throws<ValueError>([&] { divide_grads({p}, -1); }, "[divide_grads] expected a count of at least 0, got -1");
}

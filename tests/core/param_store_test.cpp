// The store of parameters and buffers: names, ties, prefixes, snapshots, seeds, masks.
#include "support.hpp"

#include <xtape/core/gradcheck.hpp>
#include <xtape/core/param_store.hpp>

#include <string>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

const Init kDraw = [](Array& value, Random& random) {
  for (real& x : value) x = static_cast<real>(random.uniform(-1, 1));
};

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters) out.push_back(p.name());
  return out;
}

/// Parameters "a.weight" [2, 3], "a.bias" [3], "ab.weight" [1], buffer "a.mean" [3].
void fill(ParamStore& store) {
  const Scope a = store.root() / "a";
  a.parameter("weight", {2, 3}, kDraw);
  a.parameter("bias", {3}, kDraw);
  (store.root() / "ab").parameter("weight", {1}, kDraw);
  a.buffer("mean", row({1, 2, 3}));
}

}  // namespace

TEST_CASE("parameters are listed in declaration order under dotted names") {
  ParamStore store(1);
  fill(store);
  CHECK(names_of(store.parameters()) == std::vector<std::string>{"a.weight", "a.bias", "ab.weight"});
  CHECK(store.parameter_count() == 10);
  CHECK(store.contains("a.weight"));
  CHECK(store.contains("a.mean"));
  CHECK_FALSE(store.contains("a"));
  CHECK((store.root() / "layers" / 3 / "attn").name() == "layers.3.attn");
  CHECK(store.root().name().empty());
}

TEST_CASE("a prefix matches whole names between dots") {
  ParamStore store(1);
  fill(store);
  CHECK(names_of(store.parameters("a")) == std::vector<std::string>{"a.weight", "a.bias"});
  CHECK(names_of(store.parameters("a.bias")) == std::vector<std::string>{"a.bias"});
  CHECK(store.parameters("a.b").empty());
  CHECK(store.parameter_count("ab") == 1);
}

TEST_CASE("matrices decay and vectors do not, by default") {
  ParamStore store(1);
  fill(store);
  CHECK(store.parameter("a.weight").decays());
  CHECK_FALSE(store.parameter("a.bias").decays());
}

TEST_CASE("a tied parameter has several names and counts once") {
  ParamStore store(1);
  fill(store);
  Parameter tied = (store.root() / "head").tie("weight", store.parameter("a.weight"));
  CHECK(tied.same_as(store.parameter("head.weight")));
  CHECK(store.parameters().size() == 3);
  CHECK(store.entries().size() == 4);
  CHECK(store.parameter_count() == 10);
  CHECK(store.parameters("head").size() == 1);
  tied.edit()[0] = 42;
  CHECK(store.parameter("a.weight").value()(0, 0) == 42);
}

TEST_CASE("names must be new and well formed") {
  ParamStore store(1);
  fill(store);
  const Scope a = store.root() / "a";
  check_throws<NameError>([&] { a.parameter("weight", {1}, kDraw); }, "[scope] the name 'a.weight' is taken");
  check_throws<NameError>([&] { a.parameter("mean", {1}, kDraw); }, "[scope] the name 'a.mean' is taken");
  check_throws<NameError>([&] { a.buffer("bias", row({1})); }, "[scope] the name 'a.bias' is taken");
  check_throws<NameError>([&] { a.tie("bias", store.parameter("a.weight")); }, "[scope] the name 'a.bias' is taken");
  check_throws<NameError>([&] { (void)(a / ""); }, "[scope] '' is no name for a scope");
  check_throws<NameError>([&] { (void)(a / "b.c"); }, "[scope] 'b.c' is no name for a scope");
  check_throws<NameError>([&] { (void)store.parameter("a.mean"); }, "there is no parameter named 'a.mean'");
  check_throws<NameError>([&] { (void)store.buffer("a.weight"); }, "there is no buffer named 'a.weight'");
  check_throws<NameError>([&] { store.freeze("b"); }, "no parameter has the prefix 'b'");
  check_throws<ShapeError>([&] { a.parameter("huge", {std::size_t{1} << 40, std::size_t{1} << 40}, kDraw); }, "[a.huge]");
  CHECK(store.parameters().size() == 3);
}

TEST_CASE("an initial value depends on the seed and the name only") {
  ParamStore store(1), reordered(1), reseeded(2);
  fill(store);
  (reordered.root() / "first").parameter("weight", {5}, kDraw);
  (reordered.root() / "ab").parameter("weight", {1}, kDraw);
  (reordered.root() / "a").parameter("weight", {2, 3}, kDraw);
  fill(reseeded);
  check_equal(reordered.parameter("a.weight").value(), store.parameter("a.weight").value());
  check_equal(reordered.parameter("ab.weight").value(), store.parameter("ab.weight").value());
  CHECK_FALSE(reseeded.parameter("a.weight").value() == store.parameter("a.weight").value());
}

TEST_CASE("no gradient flows to frozen parameters") {
  ParamStore store(1);
  fill(store);
  Parameter weight = store.parameter("a.weight"), bias = store.parameter("a.bias");
  const auto step = [&] {
    Tape tape;
    tape.backward(sum(weight * bias));
  };
  store.freeze("a.weight");
  step();
  CHECK_FALSE(weight.has_grad());
  CHECK(bias.has_grad());
  store.unfreeze("a");
  step();
  CHECK(weight.has_grad());
  store.zero_grad();
  CHECK_FALSE(weight.has_grad());
  CHECK_FALSE(bias.has_grad());
}

TEST_CASE("a snapshot is independent of the store and restores it") {
  ParamStore store(1);
  fill(store);
  const Array weight = store.parameter("a.weight").value();
  const Snapshot snapshot = store.snapshot();
  store.parameter("a.weight").edit()[0] = 42;
  store.buffer("a.mean").edit()[0] = 42;
  CHECK(store.buffer("a.mean").value()(0) == 42);
  store.restore(snapshot);
  check_equal(store.parameter("a.weight").value(), weight);
  check_equal(store.buffer("a.mean").value(), row({1, 2, 3}));
}

TEST_CASE("a snapshot that does not fit changes nothing") {
  ParamStore store(1);
  fill(store);
  const Array weight = store.parameter("a.weight").value();
  Snapshot wrong = store.snapshot();
  wrong.parameters[0].second.fill(7);
  wrong.parameters[2].second = row({1, 2});
  check_throws<ShapeError>([&] { store.restore(wrong); }, "[restore] ab.weight has another shape; got shapes (1) and (2)");
  wrong.parameters[2] = {"unknown", row({1})};
  check_throws<NameError>([&] { store.restore(wrong); }, "there is no parameter named 'unknown'");
  wrong = store.snapshot();
  wrong.parameters[0].second.fill(7);
  wrong.buffers[0].second = row({1});
  check_throws<ShapeError>([&] { store.restore(wrong); }, "[restore] a.mean has another shape");
  check_equal(store.parameter("a.weight").value(), weight);
}

TEST_CASE("buffers are shared by their copies and keep their shape") {
  ParamStore store(1);
  fill(store);
  Buffer copy = store.buffer("a.mean");
  copy.set_value(row({4, 5, 6}));
  check_equal(store.buffer("a.mean").value(), row({4, 5, 6}));
  check_throws<ShapeError>([&] { copy.set_value(row({1})); }, "[buffer a.mean] the new value has another shape");
}

TEST_CASE("each call of a layer's masks has a key of its own, and layers count apart") {
  ParamStore store(9);
  MaskStream first = (store.root() / "drop1").masks(), second = (store.root() / "drop2").masks();
  const MaskKey a = first.next(), b = first.next(), c = second.next();
  CHECK(a.seed == 9);
  CHECK(a.call == 0);
  CHECK(b.call == 1);
  CHECK(c.call == 0);
  CHECK(a.stream == b.stream);
  CHECK(a.stream != c.stream);
  CHECK(*store.mask_counters().at("drop1") == 2);
  *store.mask_counters().at("drop1") = 10;  // as a checkpoint does
  CHECK(first.next().call == 10);
}

TEST_CASE("training mode is a switch that scopes read") {
  ParamStore store(1);
  const Scope scope = store.root() / "a";
  CHECK(store.training());
  store.eval();
  CHECK_FALSE(scope.training());
  store.train();
  CHECK(scope.training());
}

TEST_CASE("the summary shows names, shapes, ties and totals") {
  ParamStore store(1);
  fill(store);
  (store.root() / "head").tie("weight", store.parameter("a.weight"));
  store.freeze("ab");
  const std::string text = store.summary();
  for (const char* part : {"a.weight", "(2,3)", "tied to a.weight", "frozen", "no decay", "buffer", "total", "10"}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

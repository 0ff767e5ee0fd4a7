// The parameter store: names, scopes, tied and frozen parameters, buffers, snapshots, random streams.
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

std::vector<std::string> names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& parameter : parameters) out.push_back(parameter.name());
  return out;
}

using Names = std::vector<std::string>;

/// A store with body.0.w [2,3], body.0.b [3], body.10.w [2], head.w tied to body.0.w, and the buffer body.0.mean.
struct Fixture {
  Fixture() {
    const Scope body = store.root() / "body", first = body / 0;
    w = first.parameter("w", {2, 3}, init::normal(0, 1));
    b = first.parameter("b", {3}, init::ones());
    (body / 10).parameter("w", {2}, init::zeros());
    (store.root() / "head").tie("w", w);
    mean = first.buffer("mean", row({1, 2}));
  }

  ParamStore store{9};
  Parameter w, b;
  Buffer mean;
};

}  // namespace

TEST_CASE("store: parameters are listed with dotted names in the order of declaration, tied ones once") {
  Fixture f;
  CHECK(names(f.store.parameters()) == Names{"body.0.w", "body.0.b", "body.10.w"});
  CHECK(f.store.entries().size() == 4);
  CHECK(f.store.entries()[3].first == "head.w");
  CHECK(f.store.parameter("head.w").same_as(f.w));
  CHECK(f.store.parameter("body.0.b").same_as(f.b));
  CHECK(f.store.parameter_count() == 11);
  CHECK(f.store.contains("head.w"));
  CHECK(f.store.contains("body.0.mean"));
  CHECK_FALSE(f.store.contains("body"));
}

TEST_CASE("store: a prefix matches whole components of a name") {
  Fixture f;
  CHECK(names(f.store.parameters("body.0")) == Names{"body.0.w", "body.0.b"});
  CHECK(names(f.store.parameters("body.1")).empty());  // does not match body.10
  CHECK(names(f.store.parameters("body.0.w")) == Names{"body.0.w"});
  // a tied parameter has the name of its first declaration
  CHECK(names(f.store.parameters("head")) == Names{"body.0.w"});
  CHECK(f.store.parameter_count("body.0") == 9);
}

TEST_CASE("store: matrices decay by default, vectors do not") {
  Fixture f;
  CHECK(f.w.decays());
  CHECK_FALSE(f.b.decays());
}

TEST_CASE("store: initial values depend on the seed and the name, not on the order of declaration") {
  const auto first_values = [](std::uint64_t seed, const char* name, bool another) {
    ParamStore store(seed);
    if (another) store.root().parameter("another", {5}, init::normal(0, 1));
    return store.root().parameter(name, {4}, init::normal(0, 1)).value();
  };
  check_equal(first_values(1, "w", true), first_values(1, "w", false));
  CHECK(first_values(1, "w", false) != first_values(2, "w", false));
  CHECK(first_values(1, "w", false) != first_values(1, "v", false));
}

TEST_CASE("store: a frozen prefix gets no gradient until it is unfrozen") {
  Fixture f;
  f.store.freeze("body.0");
  CHECK_FALSE(f.w.trainable());
  CHECK_FALSE(f.b.trainable());
  CHECK(f.store.parameter("body.10.w").trainable());
  const auto backward = [&] {
    Tape tape;
    tape.backward(sum(f.store.parameter("body.10.w").tensor()) + sum(f.w.tensor() * f.w.tensor()));
  };
  backward();
  CHECK_FALSE(f.w.has_grad());
  CHECK(f.store.parameter("body.10.w").has_grad());
  f.store.unfreeze("");
  backward();
  CHECK(f.w.has_grad());
}

TEST_CASE("store: a tied parameter sums the gradients of all its uses") {
  Fixture f;
  const Parameter head = f.store.parameter("head.w");
  Tape tape;
  tape.backward(sum(f.w.tensor()) + sum(head.tensor() * real(2)));
  check_equal(f.w.grad(), array({2, 3}, {3, 3, 3, 3, 3, 3}));
}

TEST_CASE("store: zero_grad clears all gradients, also those of a failed backward pass") {
  Fixture f;
  f.b.set_grad(row({1, 2, 3}));
  {
    Tape tape;
    const Tensor loss = sum(f.w.tensor());
    tape.on_grad(loss, [](const Array&) { throw std::runtime_error("stop"); });
    check_throws<std::runtime_error>([&] { tape.backward(loss); }, "stop");
  }
  check_throws<GradientError>([&] { f.w.grad(); }, "body.0.w");
  f.store.zero_grad();
  CHECK_FALSE(f.b.has_grad());
  check_equal(f.w.grad(), array({2, 3}, {0, 0, 0, 0, 0, 0}));
}

TEST_CASE("store: a snapshot is independent of later changes and restores everything") {
  Fixture f;
  const Array w = f.w.value();
  const Snapshot snapshot = f.store.snapshot();
  CHECK(snapshot.parameters.size() == 3);
  CHECK(snapshot.buffers.size() == 1);
  f.w.set_value(array({2, 3}, {0, 0, 0, 0, 0, 0}));
  f.b.edit()[0] = 7;
  f.mean.edit()[1] = 9;
  check_equal(snapshot.parameters[0].second, w);
  f.store.restore(snapshot);
  check_equal(f.w.value(), w);
  check_equal(f.b.value(), row({1, 1, 1}));
  check_equal(f.mean.value(), row({1, 2}));
}

TEST_CASE("store: a snapshot that does not match the store changes nothing") {
  Fixture f;
  const auto refused = [&]<class E>(std::type_identity<E>, const Snapshot& snapshot, const char* part) {
    check_throws<E>([&] { f.store.restore(snapshot); }, part);
    check_equal(f.b.value(), row({1, 1, 1}));
    check_equal(f.mean.value(), row({1, 2}));
  };
  const std::vector<std::pair<std::string, Array>> good = {{"body.0.b", row({5, 5, 5})}};
  using Name = std::type_identity<NameError>;
  using Bad = std::type_identity<ShapeError>;
  refused(Name(), {{good[0], {"body.0.c", row({1})}}, {}}, "there is no parameter named 'body.0.c'");
  refused(Bad(), {{good[0], {"body.10.w", row({1})}}, {}}, "expected body.10.w of shape (2), got (1)");
  refused(Name(), {good, {{"mean", row({3, 4})}}}, "there is no buffer named 'mean'");
  refused(Bad(), {good, {{"body.0.mean", row({3})}}}, "expected body.0.mean of shape (2), got (1)");
}

TEST_CASE("store: buffers are shared handles of a fixed shape") {
  Fixture f;
  Buffer same = f.store.buffer("body.0.mean");
  same.set_value(row({3, 4}));
  check_equal(f.mean.value(), row({3, 4}));
  same.edit()[0] = 8;
  check_equal(f.mean.value(), row({8, 4}));
  CHECK(f.store.buffers().size() == 1);
  check_throws<ShapeError>([&] { same.set_value(row({1, 2, 3})); },
                           "[buffer body.0.mean] expected a value of shape (2), got (3)");
  check_equal(f.mean.value(), row({8, 4}));
  check_throws<ValueError>([] { Buffer().value(); }, "[buffer] this handle is empty");
}

TEST_CASE("store: unknown, duplicate and malformed names are refused") {
  Fixture f;
  const Scope root = f.store.root(), body = root / "body";
  check_throws<NameError>([&] { f.store.parameter("body.0"); }, "there is no parameter named 'body.0'");
  check_throws<NameError>([&] { f.store.buffer("body.0.w"); }, "there is no buffer named 'body.0.w'");
  check_throws<NameError>([&] { f.store.freeze("bod"); }, "no parameter has the prefix 'bod'");
  check_throws<NameError>([&] { f.store.unfreeze("body.0.mean"); }, "no parameter has the prefix 'body.0.mean'");
  for (const char* bad : {"", "a.b", "."}) {
    check_throws<NameError>([&] { root / bad; }, "expected a name without a dot that is not empty, got");
    check_throws<NameError>([&] { root.parameter(bad, {1}, init::zeros()); },
                            "expected a name without a dot that is not empty, got");
    check_throws<NameError>([&] { root.tie(bad, f.w); }, "expected a name without a dot that is not empty, got");
    check_throws<NameError>([&] { root.buffer(bad, row({1})); },
                            "expected a name without a dot that is not empty, got");
  }
  for (const char* taken : {"w", "mean"}) {
    const std::string message = "the name 'body.0." + std::string(taken) + "' is taken";
    check_throws<NameError>([&] { (body / 0).parameter(taken, {1}, init::zeros()); }, message);
    check_throws<NameError>([&] { (body / 0).tie(taken, f.b); }, message);
    check_throws<NameError>([&] { (body / 0).buffer(taken, row({1})); }, message);
  }
  CHECK(f.store.entries().size() == 4);
  CHECK(f.store.buffers().size() == 1);
}

TEST_CASE("store: a failed registration leaves the store unchanged") {
  ParamStore store;
  const Scope root = store.root();
  check_throws<ValueError>([&] { root.parameter("w", {2}, Init()); }, "the parameter 'w' has no initialization");
  check_throws<ValueError>([&] { root.tie("w", Parameter()); }, "'w' cannot be tied to an empty parameter");
  check_throws<ShapeError>([&] { root.parameter("w", {std::size_t{1} << 40, std::size_t{1} << 40}, init::zeros()); },
                           "[w] expected at most 2^46 elements");
  check_throws<ShapeError>([&] { root.parameter("w", {2}, init::xavier_uniform()); }, "at least two axes");
  CHECK(store.entries().empty());
  CHECK_FALSE(store.contains("w"));
}

TEST_CASE("store: training mode is on at the start and shared by all scopes") {
  ParamStore store;
  const Scope inner = store.root() / "a" / "b";
  CHECK(inner.name() == "a.b");
  CHECK(inner.training());
  store.eval();
  CHECK_FALSE(inner.training());
  CHECK_FALSE(store.training());
  store.train();
  CHECK(inner.training());
}

TEST_CASE("store: mask counters count the calls of each scope and can be set back") {
  ParamStore store(5);
  RandomKeyStream a = (store.root() / "a").random_keys(), b = (store.root() / "b").random_keys();
  const RandomKey first = a.next(), second = a.next(), other = b.next();
  CHECK(first.seed == 5);
  CHECK(first.call == 0);
  CHECK(second.call == 1);
  CHECK(second.stream == first.stream);
  CHECK(other.stream != first.stream);
  REQUIRE(store.mask_counters().size() == 2);
  CHECK(*store.mask_counters().at("a") == 2);
  CHECK(*store.mask_counters().at("b") == 1);
  *store.mask_counters().at("a") = 1;  // as loading a checkpoint does
  CHECK(a.next().call == 1);
}

TEST_CASE("store: the summary lists shapes and sizes, and marks tied, frozen and not decaying parameters") {
  Fixture f;
  f.store.freeze("body.10");
  CHECK(f.store.summary() ==
        "parameter    shape  elements    \n"
        "body.0.w     (2,3)  6           \n"
        "body.0.b     (3)    3            no decay\n"
        "body.10.w    (2)    2            frozen no decay\n"
        "head.w       (2,3)  6            tied to body.0.w\n"
        "body.0.mean  (2)    2            buffer\n"
        "total               11\n");
}

TEST_CASE("store: layers outlive the store object") {
  std::optional<ParamStore> store(std::in_place, 3);
  const Scope scope = store->root() / "a";
  const Parameter w = scope.parameter("w", {2}, init::ones());
  store.reset();
  check_equal(w.value(), row({1, 1}));
  CHECK(scope.training());
}

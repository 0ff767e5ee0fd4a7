// Properties that all optimizers have.
#include <xtape/core/threads.hpp>

#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// Calls `check(make)` for every optimizer.
template <class Check>
void for_every_optimizer(const Check& check) {
  for (const NamedOptimizer& entry : every_optimizer()) {
    INFO(entry.title);
    check(entry.make);
  }
}

/// Two parameters, "a" [3] and "b" [2,2], with gradients from a counter.
struct Pair {
  Parameter a{"a", row({1, -2, 3})};
  Parameter b{"b", array({2, 2}, {0.5, 1, 1.5, 2})};

  Groups groups() const { return {{.name = "all", .parameters = {a, b}, .weight_decay = 0.1}}; }
  void set_grads(std::uint64_t counter) {
    a.set_grad(sample({3}, counter));
    b.set_grad(sample({2, 2}, counter + 1000));
  }
};

void check_same(const OptimizerState& got, const OptimizerState& want) {
  CHECK(got.optimizer == want.optimizer);
  CHECK(got.options == want.options);
  REQUIRE(got.parameters.size() == want.parameters.size());
  for (const auto& [name, state] : want.parameters) {
    CHECK(got.parameters.at(name).steps == state.steps);
    REQUIRE(got.parameters.at(name).slots.size() == state.slots.size());
    for (const auto& [slot, value] : state.slots) check_equal(got.parameters.at(name).slots.at(slot), value);
  }
}

}  // namespace

TEST_CASE("optimizers: frozen parameters and those without a gradient do not change") {
  for_every_optimizer([](const auto& make) {
    Pair p;
    Parameter frozen("frozen", row({7}));
    Parameter unused("unused", row({8}));
    frozen.set_grad(row({1}));
    frozen.set_trainable(false);
    p.set_grads(1);
    auto optimizer = make({{.name = "all", .parameters = {frozen, p.a, unused}, .weight_decay = 0.5}});
    CHECK(optimizer->step(0.1));
    check_equal(frozen.value(), row({7}));
    check_equal(unused.value(), row({8}));
    CHECK(optimizer->state().parameters.size() == 1);
    CHECK(optimizer->update_norm(p.a) > 0);
    CHECK(optimizer->update_norm(unused) == 0);
    frozen.set_trainable(true);
    CHECK(optimizer->step(0.1));
    CHECK(optimizer->state().parameters.at("frozen").steps == 1);
    CHECK(optimizer->state().parameters.at("a").steps == 2);
  });
}

TEST_CASE("optimizers: gradients stay as they are") {
  for_every_optimizer([](const auto& make) {
    Pair p;
    p.set_grads(3);
    auto optimizer = make(p.groups());
    CHECK(optimizer->step(0.1));
    check_equal(p.a.grad(), sample({3}, 3));
    check_equal(p.b.grad(), sample({2, 2}, 1003));
  });
}

TEST_CASE("optimizers: tied parameters are stepped once") {
  for_every_optimizer([](const auto& make) {
    ParamStore store;
    Parameter w = store.root().parameter("w", {2}, init::ones());
    (store.root() / "head").tie("w", w);
    Parameter alone("alone", row({1, 1}));
    auto tied = make(all_parameters(store)), untied = make(one_group(alone));
    step_with(*tied, w, row({1, 2}), 0.1);
    step_with(*untied, alone, row({1, 2}), 0.1);
    check_equal(w.value(), alone.value());
    CHECK(tied->state().parameters.size() == 1);
    CHECK(tied->state().parameters.at("w").steps == 1);
  });
}

TEST_CASE("optimizers: a gradient that is not finite changes nothing, and later steps do not depend on it") {
  for_every_optimizer([](const auto& make) {
    for (double bad : {kNaN, kInf, -kInf}) {
      Pair p, q;
      auto optimizer = make(p.groups()), undisturbed = make(q.groups());
      for (std::uint64_t t = 0; t < 3; ++t) {
        p.set_grads(t);
        q.set_grads(t);
        CHECK(optimizer->step(0.1));
        CHECK(undisturbed->step(0.1));
        const OptimizerState before = optimizer->state();
        const std::uint64_t version = p.a.version();
        p.b.set_grad(array({2, 2}, {1, 2, bad, 3}));
        CHECK_FALSE(optimizer->step(0.1));
        CHECK(optimizer->update_norm(p.a) == 0);
        CHECK(p.a.version() == version);
        check_equal(p.a.value(), q.a.value());
        check_equal(p.b.value(), q.b.value());
        check_same(optimizer->state(), before);
      }
    }
  });
}

TEST_CASE("optimizers: huge finite gradients are not refused") {
  Parameter w("w", row({0, 0}));
  SGD optimizer(one_group(w));
  const double huge = tolerance(1e300, 1e38);
  step_with(optimizer, w, row({huge, -huge}), 1 / huge);
  check_near(w.value(), row({-1, 1}));
  check_near(optimizer.update_norm(w), std::sqrt(2.0));
}

TEST_CASE("optimizers: each group has its own lr_scale and weight decay") {
  for_every_optimizer([](const auto& make) {
    Pair p, q;
    p.set_grads(5);
    q.set_grads(5);
    auto grouped = make({{.name = "first", .parameters = {p.a}, .weight_decay = 0.2, .lr_scale = 0.5},
                         {.name = "second", .parameters = {p.b}}});
    auto first = make(one_group(q.a, 0.2)), second = make(one_group(q.b));
    for (int t = 0; t < 3; ++t) {
      CHECK(grouped->step(0.1));
      CHECK(first->step(0.05));
      CHECK(second->step(0.1));
    }
    check_equal(p.a.value(), q.a.value());
    check_equal(p.b.value(), q.b.value());
  });
}

TEST_CASE("optimizers: update_norm is the norm of the change") {
  for_every_optimizer([](const auto& make) {
    Pair p;
    auto optimizer = make(p.groups());
    CHECK(optimizer->update_norm(p.a) == 0);
    for (std::uint64_t t = 0; t < 4; ++t) {
      const Array before = p.a.value();
      p.set_grads(t);
      CHECK(optimizer->step(0.1));
      double squares = 0;
      for (std::size_t i = 0; i < 3; ++i)
        squares += std::pow(static_cast<double>(p.a.value().data()[i]) - static_cast<double>(before.data()[i]), 2);
      check_near(optimizer->update_norm(p.a), std::sqrt(squares), {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-6)});
    }
  });
}

TEST_CASE("optimizers: the same bits for any number of threads") {
  const int used = threads();
  for_every_optimizer([](const auto& make) {
    std::vector<Array> ends;
    std::vector<double> norms;
    for (int count : {1, 4}) {
      set_threads(count);
      Parameter w("w", sample({1000, 100}, 1));
      auto optimizer = make(one_group(w, 0.1));
      for (std::uint64_t t = 0; t < 3; ++t) step_with(*optimizer, w, sample({1000, 100}, t), 0.1);
      ends.push_back(w.value());
      norms.push_back(optimizer->update_norm(w));
    }
    check_equal(ends[1], ends[0]);
    CHECK(norms[1] == norms[0]);
  });
  set_threads(used);
}

TEST_CASE("optimizers: a run resumed from its state at any step equals the uninterrupted run, bit for bit") {
  for_every_optimizer([](const auto& make) {
    constexpr std::uint64_t steps = 6;
    Pair whole;
    auto straight = make(whole.groups());
    for (std::uint64_t t = 0; t < steps; ++t) {
      whole.set_grads(t);
      CHECK(straight->step(0.1 / static_cast<double>(t + 1)));
    }
    for (std::uint64_t stop = 0; stop <= steps; ++stop) {
      Pair p;
      auto optimizer = make(p.groups());
      for (std::uint64_t t = 0; t < steps; ++t) {
        if (t == stop) {
          const OptimizerState saved = optimizer->state();
          optimizer = make(p.groups());
          optimizer->load_state(saved);
          check_same(optimizer->state(), saved);
        }
        p.set_grads(t);
        CHECK(optimizer->step(0.1 / static_cast<double>(t + 1)));
      }
      check_equal(p.a.value(), whole.a.value());
      check_equal(p.b.value(), whole.b.value());
    }
  });
}

TEST_CASE("optimizers: Adam resumed after two of four steps, known values") {
  const std::vector<double> grads = {1, -0.5, 0.25, 2},
                            want = {-0.0999999990, -0.1266337026, -0.1606766169, -0.2249658085};
  Parameter w("w", row({0}));
  auto optimizer = std::make_unique<Adam>(one_group(w));
  for (std::size_t t = 0; t < 4; ++t) {
    if (t == 2) {
      const OptimizerState saved = optimizer->state();
      optimizer = std::make_unique<Adam>(one_group(w));
      optimizer->load_state(saved);
    }
    step_with(*optimizer, w, row({grads[t]}), 0.1);
    check_near(static_cast<double>(w.value().data()[0]), want[t], {tolerance(1e-9, 1e-6), tolerance(1e-10, 1e-7)});
  }
}

TEST_CASE("optimizers: a state is a copy, and load_state replaces the whole state") {
  Pair p;
  AdamW optimizer(p.groups());
  p.set_grads(1);
  CHECK(optimizer.step(0.1));
  OptimizerState first = optimizer.state();
  const real before = first.parameters.at("a").slots.at("exp_avg").data()[0];
  CHECK(optimizer.step(0.1));
  CHECK(first.parameters.at("a").slots.at("exp_avg").data()[0] == before);
  first.parameters.erase("b");
  optimizer.load_state(first);
  check_same(optimizer.state(), first);
}

TEST_CASE("optimizers: load_state refuses a state that does not match and changes nothing") {
  Pair p;
  AdamW optimizer(p.groups());
  p.set_grads(1);
  CHECK(optimizer.step(0.1));
  const OptimizerState good = optimizer.state();
  const auto refused = [&]<class E>(std::type_identity<E>, const auto& spoil, const char* part) {
    OptimizerState bad = good;
    bad.parameters.at("a").steps = 77;
    spoil(bad);
    check_throws<E>([&] { optimizer.load_state(bad); }, part);
    check_same(optimizer.state(), good);
  };
  using Value = std::type_identity<ValueError>;
  using Name = std::type_identity<NameError>;
  using S = OptimizerState;
  refused(Value(), [](S& s) { s.optimizer = "adam"; }, "[adamw] expected a state of adamw, got adam");
  refused(
      Value(), [](S& s) { s.options.at("beta2") = 0.5; },
      "expected a state of the options beta1 0.9, beta2 0.999, eps 1e-08, got beta1 0.9, beta2 0.5, eps 1e-08");
  refused(
      Value(), [](S& s) { s.options.erase("eps"); },
      "expected a state of the options beta1 0.9, beta2 0.999, eps 1e-08, got beta1 0.9, beta2 0.999");
  refused(Value(), [](S& s) { s.parameters.at("b").steps = 0; }, "expected a state of b after at least 1 step, got 0");
  refused(Name(), [](S& s) { s.parameters["c"] = s.parameters["b"]; }, "no parameter of this optimizer is named 'c'");
  refused(Name(), [](S& s) { s.parameters["b"].slots.erase("exp_avg"); }, "the state of b has no 'exp_avg'");
  refused(Name(), [](S& s) { s.parameters["b"].slots["m"] = row({1}); }, "the state of b has an unknown 'm'");
  refused(
      std::type_identity<ShapeError>(), [](S& s) { s.parameters["b"].slots["exp_avg_sq"] = row({1, 2, 3, 4}); },
      "expected 'exp_avg_sq' of b of shape (2,2), got (4)");
}

TEST_CASE("optimizers: a rate that is negative or not finite is refused") {
  for_every_optimizer([](const auto& make) {
    Pair p;
    p.set_grads(1);
    auto optimizer = make(p.groups());
    for (double rate : {-0.1, kNaN, kInf})
      check_throws<ValueError>([&] { optimizer->step(rate); },
                               "expected a learning rate that is finite and at least 0, got");
    check_equal(p.a.value(), row({1, -2, 3}));
    CHECK(optimizer->state().parameters.empty());
  });
}

TEST_CASE("optimizers: no step after a failed backward pass") {
  for_every_optimizer([](const auto& make) {
    Pair p;
    auto optimizer = make(p.groups());
    {
      Tape tape;
      const Tensor loss = sum(p.a.tensor() * p.a.tensor());
      tape.on_grad(loss, [](const Array&) { throw std::runtime_error("stop"); });
      check_throws<std::runtime_error>([&] { tape.backward(loss); }, "stop");
    }
    p.b.set_grad(array({2, 2}, {1, 1, 1, 1}));
    check_throws<GradientError>([&] { optimizer->step(0.1); }, "zero_grad()");
    check_equal(p.b.value(), array({2, 2}, {0.5, 1, 1.5, 2}));
    CHECK(optimizer->state().parameters.empty());
    p.a.zero_grad();
    CHECK(optimizer->step(0.1));
  });
}

TEST_CASE("optimizers: tensors taken before a step keep the old value") {
  Parameter w("w", row({1}));
  SGD optimizer(one_group(w));
  const Tensor old = w.tensor();
  step_with(optimizer, w, row({1}), 0.5);
  check_equal(old.value(), row({1}));
  check_equal(w.value(), row({0.5}));
}

TEST_CASE("optimizers: a step reduces the loss of a small model") {
  for_every_optimizer([](const auto& make) {
    ParamStore store(2);
    Linear layer(store.root(), 3, 2);
    const Tensor x = sample({8, 3}, 6), target = sample({8, 2}, 7);
    auto optimizer = make(all_parameters(store));
    std::vector<double> losses;
    for (int t = 0; t < 40; ++t) {
      Tape tape;
      const Tensor error = layer(x) - target, loss = mean(error * error);
      tape.backward(loss);
      CHECK(optimizer->step(0.02));
      store.zero_grad();
      losses.push_back(static_cast<double>(loss.item()));
    }
    CHECK(losses.back() < 0.9 * losses.front());
  });
}

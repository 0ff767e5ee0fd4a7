// After a step that returned true every weight and every slot is finite; a refused step changes nothing.
#include "optimizers.hpp"

#include <cstdint>

using namespace xtape;
using namespace xtape::test;

namespace {

using Maker = std::function<std::unique_ptr<Optimizer>(const Groups&)>;

/// Each class with its usual options, and with every option at the ends of its domain.
std::vector<std::pair<std::string, Maker>> makers() {
  std::vector<std::pair<std::string, Maker>> out;
  for (const NamedOptimizer& one : every_optimizer()) out.emplace_back(one.title, one.make);
  const double below_one = std::nextafter(1.0, 0.0);
  for (const double momentum : {1e-300, below_one})
    for (const double dampening : {0.0, 1.0}) {
      const SgdOptions options{.momentum = momentum, .dampening = dampening};
      out.emplace_back("SGD at its limits", [=](const Groups& g) { return std::make_unique<SGD>(g, options); });
      out.emplace_back("SGDW at its limits", [=](const Groups& g) { return std::make_unique<SGDW>(g, options); });
    }
  for (const double beta : {0.0, below_one})
    for (const bool correct : {false, true}) {
      const AveragedSgdOptions options{.beta = beta, .bias_correction = correct};
      out.emplace_back("AveragedSGD at its limits",
                       [=](const Groups& g) { return std::make_unique<AveragedSGD>(g, options); });
    }
  for (const double eps : {0.0, 1e-320, 1e-50, 1e-30, 1e300})
    for (const double beta1 : {0.0, 0.9, below_one})
      for (const double beta2 : {0.0, 0.999, below_one}) {
        const AdamOptions options{.beta1 = beta1, .beta2 = beta2, .eps = eps};
        out.emplace_back("Adam at its limits", [=](const Groups& g) { return std::make_unique<Adam>(g, options); });
        out.emplace_back("AdamW at its limits", [=](const Groups& g) { return std::make_unique<AdamW>(g, options); });
      }
  return out;
}

bool finite(const Array& x) {
  return std::all_of(x.begin(), x.end(), [](real v) { return std::isfinite(v); });
}

void check_finite(const Optimizer& optimizer, const Parameter& w) {
  CHECK(finite(w.value()));
  CHECK(std::isfinite(optimizer.update_norm(w)));
  const OptimizerState state = optimizer.state();
  if (state.parameters.empty()) return;
  for (const auto& [name, slot] : state.parameters.at(w.name()).slots) CHECK_MESSAGE(finite(slot), name);
}

void check_unchanged(const OptimizerState& now, const OptimizerState& before) {
  REQUIRE(now.parameters.size() == before.parameters.size());
  for (const auto& [name, state] : before.parameters) {
    CHECK(now.parameters.at(name).steps == state.steps);
    for (const auto& [slot, value] : state.slots) check_equal(now.parameters.at(name).slots.at(slot), value);
  }
}

}  // namespace

TEST_CASE("optimizers: a step that returns true leaves only finite weights and slots, a refused one changes nothing") {
  const double most = static_cast<double>(std::numeric_limits<real>::max());
  const double tiny = static_cast<double>(std::numeric_limits<real>::denorm_min());
  int refused = 0, made = 0;
  for (const auto& [title, make] : makers()) {
    for (const double decay : {0.0, 0.01, 1e30, 1e300}) {
      for (const double lr : {0.0, 1e-3, 100.0, 1e300}) {
        INFO(title, ", decay ", decay, ", rate ", lr);
        Parameter w("w", row({1, -1, 0, 0.5})), calm("calm", row({1}));
        auto optimizer = make({{.name = "g", .parameters = {calm, w}, .weight_decay = decay}});
        for (const Array& grad :
             {row({1, 0, 0, -2}), row({0, 0, 0, 0}), row({1e22, 1, 0, tiny}), row({1e-25, 1, 0, 1}),
              row({most, -most, 0, 1}), row({1, 1, 1, 1}), row({-most, most, most, 0}), row({0, 0, 0, 0})}) {
          w.set_grad(grad);
          calm.set_grad(row({0.5}));
          const Array before = w.value(), calm_before = calm.value();
          const OptimizerState state = optimizer->state();
          const std::uint64_t version = w.version();
          if (optimizer->step(lr)) {
            ++made;
            check_finite(*optimizer, w);
            check_finite(*optimizer, calm);
            continue;
          }
          ++refused;
          check_equal(w.value(), before);
          check_equal(calm.value(), calm_before);
          CHECK(w.version() == version);
          CHECK(optimizer->update_norm(w) == 0);
          check_unchanged(optimizer->state(), state);
        }
      }
    }
  }
  CHECK(refused > 100);
  CHECK(made > 1000);
}

TEST_CASE("optimizers: weights that a step cannot keep finite are noticed after each way to change them") {
  const double most = static_cast<double>(std::numeric_limits<real>::max());
  for (const NamedOptimizer& one : every_optimizer()) {
    INFO(one.title);
    Parameter w("w", row({1, 1}));
    auto optimizer = one.make(one_group(w, 0));
    step_with(*optimizer, w, row({1, 1}), 0.1);
    w.set_value(row({-most, 1}));
    w.set_grad(row({most, 1}));
    const bool stepped = optimizer->step(most);
    CHECK_FALSE(stepped);
    check_equal(w.value(), row({-most, 1}));
    w.edit()[0] = 1;
    step_with(*optimizer, w, row({1, 1}), 0.1);
    OptimizerState state = optimizer->state();
    if (state.parameters.at("w").slots.empty()) continue;
    for (auto& [name, slot] : state.parameters.at("w").slots) slot.fill(static_cast<real>(kInf));
    optimizer->load_state(state);
    CHECK_FALSE(optimizer->step(0.1));
  }
}

TEST_CASE("adam: without an eps, or with one that float rounds to 0, a weight without gradient does not move") {
  for (const double eps : {0.0, 1e-50}) {
    for (const bool decoupled : {false, true}) {
      INFO(eps);
      Parameter w("w", row({1, 1}));
      const AdamOptions options{.eps = eps};
      std::unique_ptr<Optimizer> optimizer;
      if (decoupled) optimizer = std::make_unique<AdamW>(one_group(w), options);
      else optimizer = std::make_unique<Adam>(one_group(w), options);
      step_with(*optimizer, w, row({1, 0}), 0.1);
      check_near(w.value(), row({0.9, 1}));
      step_with(*optimizer, w, row({1, 0}), 0.1);
      check_near(w.value(), row({0.8, 1}));
    }
  }
}

TEST_CASE("adam: a large finite gradient does not freeze a weight") {
  Parameter w("w", row({0, 0}));
  AdamW optimizer(one_group(w));
  w.set_grad(row({tolerance(1e200, 1e22), 1}));
  CHECK_FALSE(optimizer.step(0.1));
  CHECK(optimizer.state().parameters.empty());
  for (int t = 0; t < 5; ++t) step_with(optimizer, w, row({1, 1}), 0.1);
  CHECK(static_cast<double>(w.value()(0)) < -0.3);
}

TEST_CASE("optimizers: a step near the end of the range is made in the same way") {
  for (const double far : {tolerance(1e140, 1e18), tolerance(1e160, 1e38)}) {
    for (const NamedOptimizer& one : every_optimizer()) {
      INFO(std::string(one.title), " ", far);
      Parameter plain("w", row({1, 2})), near_end("w", row({1, 2}));
      auto a = one.make(one_group(plain, 0.1)), b = one.make(one_group(near_end, 0.1));
      for (std::uint64_t t = 0; t < 3; ++t) {
        const double grad = static_cast<double>(sample({1}, t)(0));
        near_end.set_grad(row({grad, far}));
        if (!b->step(0.1)) break;
        step_with(*a, plain, row({grad, 1}), 0.1);
        CHECK(near_end.value()(0) == plain.value()(0));
      }
    }
  }
}

TEST_CASE("optimizers: a class without a bound makes the same steps, and none that overflows") {
  class Plain : public Optimizer {
   public:
    explicit Plain(Groups groups) : Optimizer("plain", Decay::l2, std::move(groups), {"seen"}, {}) {}

   private:
    double update(const Update& u) const final {
      double squares = 0;
      for (index_t i = 0; i < u.size; ++i) {
        const double change = u.lr * static_cast<double>(u.gradient[i]);
        u.value[i] -= static_cast<real>(change);
        u.slots[0][i] += 1;
        squares += change * change;
      }
      return squares;
    }
  };
  Parameter w("w", row({1, 2}));
  Plain optimizer(one_group(w));
  step_with(optimizer, w, row({1, -1}), 0.5);
  check_equal(w.value(), row({0.5, 2.5}));
  check_near(optimizer.update_norm(w), std::sqrt(0.5));
  w.set_grad(row({static_cast<double>(std::numeric_limits<real>::max()), 1}));
  CHECK_FALSE(optimizer.step(100));
  check_equal(w.value(), row({0.5, 2.5}));
  check_equal(optimizer.state().parameters.at("w").slots.at("seen"), row({1, 1}));
}

TEST_CASE("optimizers: update_norm is right where the squares overflow") {
  const double big = tolerance(1e200, 1e30);
  Parameter w("w", row({0, 0}));
  SGD optimizer(one_group(w));
  step_with(optimizer, w, row({3 * big, -4 * big}), 1);
  check_near(optimizer.update_norm(w), 5 * big, {1e-6, 0});
}

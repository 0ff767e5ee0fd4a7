// All optimizers behind one interface, and helpers for the tests of optim/.
#pragma once

#include <xtape/inspect/measure/gradcheck.hpp>

#include <functional>
#include <memory>

#include "support.hpp"

namespace xtape::test {

using Groups = std::vector<ParamGroup>;

struct NamedOptimizer {
  const char* title;
  std::function<std::unique_ptr<Optimizer>(const Groups&)> make;
};

/// Each class, with each option that changes the update.
inline std::vector<NamedOptimizer> every_optimizer() {
  return {
      {"SGD", [](const Groups& g) { return std::make_unique<SGD>(g); }},
      {"SGD, momentum",
       [](const Groups& g) { return std::make_unique<SGD>(g, SgdOptions{.momentum = 0.9, .dampening = 0.5}); }},
      {"SGD, Nesterov",
       [](const Groups& g) { return std::make_unique<SGD>(g, SgdOptions{.momentum = 0.9, .nesterov = true}); }},
      {"SGDW", [](const Groups& g) { return std::make_unique<SGDW>(g, SgdOptions{.momentum = 0.9}); }},
      {"AveragedSGD", [](const Groups& g) { return std::make_unique<AveragedSGD>(g); }},
      {"AveragedSGDW",
       [](const Groups& g) { return std::make_unique<AveragedSGDW>(g, AveragedSgdOptions{.bias_correction = true}); }},
      {"Adam", [](const Groups& g) { return std::make_unique<Adam>(g); }},
      {"AdamW", [](const Groups& g) { return std::make_unique<AdamW>(g); }},
  };
}

inline Groups one_group(const Parameter& parameter, double weight_decay = 0) {
  return {{.name = "all", .parameters = {parameter}, .weight_decay = weight_decay}};
}

/// Sets the gradient and makes a step, which must not be refused.
inline void step_with(Optimizer& optimizer, Parameter parameter, const Array& grad, double lr) {
  parameter.set_grad(grad);
  CHECK(optimizer.step(lr));
}

/// The first element after each step of a one-element parameter that starts at `start`.
template <class Opt, class Options>
std::vector<double> path(double start, double weight_decay, const Options& options, const std::vector<double>& grads,
                         const std::vector<double>& rates) {
  Parameter w("w", row({start}));
  Opt optimizer(one_group(w, weight_decay), options);
  std::vector<double> out;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    step_with(optimizer, w, row({grads[i]}), rates[i]);
    out.push_back(static_cast<double>(w.value().data()[0]));
  }
  return out;
}

inline void check_path(const std::vector<double>& got, const std::vector<double>& want, const Limits& limits) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("step ", i + 1);
    check_near(got[i], want[i], limits);
  }
}

/// Independent normal numbers.
inline Array noise(Random& random, index_t count, double mean = 0, double stddev = 1) {
  Array out = empty_array({count});
  for (index_t i = 0; i < count; ++i) out.data()[i] = static_cast<real>(mean + stddev * random.normal());
  return out;
}

inline double mean_of(const Array& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x.data()[i]);
  return sum / static_cast<double>(x.size());
}

}  // namespace xtape::test

#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

struct LayerAndNorm {
  ParamStore store{1};
  Linear layer{store.root() / "layer", 2, 3};
  LayerNorm norm{store.root() / "norm", 3};
};

std::vector<std::string> names(const ParamGroup& group) {
  std::vector<std::string> out;
  for (const Parameter& parameter : group.parameters) out.push_back(parameter.name());
  return out;
}

}  // namespace

TEST_CASE("param groups: matrices decay, biases and norm weights do not") {
  LayerAndNorm model;
  const Groups groups = decay_groups(model.store, 0.1);
  REQUIRE(groups.size() == 2);
  CHECK(names(groups[0]) == std::vector<std::string>{"layer.weight"});
  CHECK(names(groups[1]) == std::vector<std::string>{"layer.bias", "norm.weight", "norm.bias"});
  CHECK(groups[0].weight_decay == 0.1);
  CHECK(groups[1].weight_decay == 0);

  for (const Parameter& parameter : model.store.parameters())
    Parameter(parameter).set_value(Tensor::ones(parameter.shape()).value());
  for (const Parameter& parameter : model.store.parameters())
    Parameter(parameter).set_grad(Tensor::zeros(parameter.shape()).value());
  AdamW optimizer(groups);
  CHECK(optimizer.step(0.1));
  check_near(model.layer.weight.value(), array({3, 2}, {0.99, 0.99, 0.99, 0.99, 0.99, 0.99}));
  check_equal(model.layer.bias.value(), row({1, 1, 1}));
  check_equal(model.norm.weight.value(), row({1, 1, 1}));
}

TEST_CASE("param groups: set_decays overrides the default by shape") {
  LayerAndNorm model;
  model.layer.weight.set_decays(false);
  model.norm.weight.set_decays(true);
  const Groups groups = decay_groups(model.store, 0.1);
  CHECK(names(groups[0]) == std::vector<std::string>{"norm.weight"});
}

TEST_CASE("param groups: all_parameters is one group") {
  LayerAndNorm model;
  const Groups groups = all_parameters(model.store, 0.3);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].parameters.size() == 4);
  CHECK(groups[0].weight_decay == 0.3);
  CHECK(groups[0].lr_scale == 1);
}

TEST_CASE("param groups: the description names every parameter with its weight decay and rate") {
  LayerAndNorm model;
  Groups groups = decay_groups(model.store, 0.1);
  groups[1].lr_scale = 2;
  CHECK(describe(groups) ==
        "decay (weight decay 0.1, rate x 1): layer.weight\n"
        "no decay (weight decay 0, rate x 2): layer.bias norm.weight norm.bias\n");
}

TEST_CASE("param groups: optimizers refuse invalid groups") {
  const Parameter w("w", row({1})), same_name("w", row({2}));
  const auto make = [](const Groups& groups) { return [groups] { SGD optimizer(groups); }; };
  check_throws<NameError>(make({{.name = "g", .parameters = {w, w}}}), "[sgd] parameter w is in two groups or twice");
  check_throws<NameError>(make({{.name = "g", .parameters = {w}}, {.name = "h", .parameters = {w}}}), "parameter w");
  check_throws<NameError>(make({{.name = "g", .parameters = {w, same_name}}}), "parameter w");
  check_throws<ValueError>(make({{.name = "g", .parameters = {Parameter()}}}), "group 'g' has an undefined parameter");
  for (double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    check_throws<ValueError>(make({{.name = "g", .parameters = {w}, .weight_decay = bad}}),
                             "expected weight decay and rate scale of group 'g' finite and at least 0, got");
    check_throws<ValueError>(make({{.name = "g", .parameters = {w}, .lr_scale = bad}}),
                             "rate scale of group 'g' finite and at least 0, got");
  }
}

// What the two comparisons share: tasks behind one face, networks in one frame, single trainings.
#include "child_process.hpp"
#include "support.hpp"

#include <cmath>
#include <limits>

#if defined(XTAPE_COMPARISON)  // linked into the tests of one dtype

#include "studies/common/seed_comparison.hpp"
#include "studies/comparisons/architecture_run.hpp"
#include "studies/comparisons/overfit_tasks.hpp"
#include "studies/comparisons/regularization_run.hpp"

using namespace xtape;
using namespace xtape::test;
using namespace xtape::examples;

namespace {

Results trained(const TemporaryDirectory& work, const std::string& name, std::vector<std::string> arguments) {
  arguments.push_back("--out=" + work.path() + "/" + name);
  return train_sequence_network(arguments);
}

}  // namespace

TEST_CASE("comparison: means by lag and right answers, by hand") {
  const std::vector<double> means = means_by_lag({1, 0, 1, 1, 0}, {1, 2, 3, 8, 7}, 8, 4);
  CHECK(means[0] == 0.5);
  CHECK(means[1] == 1);
  CHECK(std::isnan(means[2]));
  CHECK(means[3] == 0.5);
  const Example adding = {.values = Tensor::zeros({3, 2, 2}), .sums = Tensor(row({1, 1, 0.5}))};
  const Tensor guesses(array({3, 2, 1}, {9, 1.05, 9, 1.2, 9, 0.45}));
  CHECK(right_answers(guesses, adding) == std::vector<double>{1, 0, 1});
  check_near(static_cast<double>(loss_of(guesses, adding).item()), (0.0025 + 0.04 + 0.0025) / 3);
  const Example symbols = {.ids = indices({2, 3}, {0, 0, 0, 0, 0, 0}),
                           .targets = indices({2, 3}, {kNotAsked, 1, 0, kNotAsked, 1, 1})};
  const Tensor logits(array({2, 3, 2}, {5, 0, 0, 1, 0, 1, 0, 5, 0, 1, 0, 1}));
  CHECK(right_answers(logits, symbols) == std::vector<double>{0.5, 1});
  CHECK(right_answers(Tensor(full_array({2, 3, 2}, real(kNaN))), symbols) == std::vector<double>{0, 0});
  // Of the last step alone: once wrong, once right.
  const double wrong = std::log(1 + std::exp(1)), right = std::log(1 + std::exp(-1));
  check_near(static_cast<double>(last_loss_of(logits, symbols).item()), (wrong + right) / 2);
  check_near(static_cast<double>(loss_of(logits, symbols).item()), (wrong + 3 * right) / 4);
}

TEST_CASE("comparison: layer norms inside the recurrence take the scale of the weights out") {
  for (const CellKind cell : {CellKind::rnn, CellKind::gru, CellKind::lstm}) {
    ParamStore store(3);
    const LayerNormRecurrent layer(store.root() / "layer", 4, 6, {.cell = cell});
    Array x = empty_array({2, 5, 4});
    Random random(1, "x");
    for (real& value : x) value = static_cast<real>(random.normal());
    const Array before = layer(x).value();
    CHECK(before.shape() == std::vector<std::size_t>{2, 5, 6});
    for (const char* name : {"layer.weight_ih_l0", "layer.weight_hh_l0"}) {
      Parameter weight = store.parameter(name);
      real* const w = weight.edit();
      for (index_t i = 0; i < weight.numel(); ++i) w[i] *= 50;
    }
    check_near(layer(x).value(), before, {0, 5e-3});  // but for the norms' epsilon
  }
}

TEST_CASE("comparison: every architecture is causal, and refuses names that are none") {
  for (const std::string& name : architecture_names()) {
    INFO(name);
    ParamStore store(1);
    const SequenceNetwork network(store.root(),
                                  {.architecture = name, .vocab = 5, .outputs = 3, .steps = 6, .width = 8});
    const Array one = network(network.embed(indices({1, 4}, {0, 1, 2, 3}))).value();
    const Array other = network(network.embed(indices({1, 4}, {0, 1, 2, 4}))).value();
    CHECK(std::equal(one.begin(), one.begin() + 9, other.begin()));
    CHECK(!std::equal(one.begin() + 9, one.end(), other.begin() + 9));
    CHECK((network.vanilla_recurrent() != nullptr) == (name == "rnn"));
  }
  check_throws<ValueError>([] { init_of("none"); }, "there is no initialization 'none'");
  check_throws<ValueError>([] { lag_task("none", 40, 0, ""); }, "there is no task 'none'");
  ParamStore store;
  check_throws<ValueError>([&] { overfit_task("none", store, ""); }, "there is no task 'none'");
}

TEST_CASE("comparison: a gated network learns to recall, and the same seed gives the same results") {
  const TemporaryDirectory work;
  const std::vector<std::string> arguments = {"--task=recall", "--model=gru", "--length=12", "--steps=300",
                                              "--width=32",    "--lr=0.01",   "--seed=1"};
  const Results first = trained(work, "first", arguments);
  CHECK(first.at("accuracy").front() > 0.95);
  CHECK(first.at("validation_loss").front() < 0.2);
  CHECK(first.at("accuracy_by_lag").size() == kLagParts);
  CHECK(first.at("input_gradient_first").size() == 12);
  CHECK(trained(work, "again", arguments) == first);
}

TEST_CASE("comparison: the vanilla network's gradient stays below its bound; clipping is counted") {
  const TemporaryDirectory work;
  const std::vector<std::string> base = {"--task=adding", "--model=rnn", "--length=20", "--steps=20", "--seed=2"};
  for (const std::string init : {"default", "orthogonal", "large"}) {
    std::vector<std::string> arguments = base;
    arguments.push_back("--init=" + init);
    const Results results = trained(work, init, arguments);
    for (const std::string when : {"first", "last"}) {
      const std::vector<double>& seen = results.at("hidden_gradient_" + when);
      const std::vector<double>& bound = results.at("hidden_bound_" + when);
      REQUIRE(seen.size() == 20);
      for (std::size_t lag = 0; lag < seen.size(); ++lag) CHECK(seen[lag] <= bound[lag] * (1 + 1e-4));
      CHECK(seen[10] < bound[10]);
    }
  }
  std::vector<std::string> tight = base, loose = base, none = base;
  tight.push_back("--clip=0.000001");
  loose.push_back("--clip=1000");
  none.push_back("--clip=0");
  CHECK(trained(work, "tight", tight).at("clipped").front() == 1);
  const Results all_loose = trained(work, "loose", loose), unclipped = trained(work, "none", none);
  CHECK(all_loose.at("clipped").front() == 0);
  CHECK(all_loose.at("validation_loss") == unclipped.at("validation_loss"));
}

TEST_CASE("comparison: a regularized training splits its updates and bins its weights") {
  const TemporaryDirectory work;
  std::string text;
  for (int i = 0; i < 6000; ++i) text += "word" + std::to_string(i * i % 89) + " ";
  work.write("text", text);
  const auto results = [&](const std::string& scheme, const std::string& strength) {
    return train_regularized({"--task=lstm", "--data=" + work.path() + "/text", "--scheme=" + scheme,
                              "--strength=" + strength, "--steps=12", "--width=8", "--log-interval=5",
                              "--out=" + work.path() + "/" + scheme});
  };
  const Results l2 = results("adam-l2", "0.001"), decoupled = results("adamw", "0.5"), plain = results("sgd", "0");
  for (double rate : decoupled.at("decay_rate")) check_near(rate, 0.5, {1e-5, 0});
  const std::vector<double>& rates = l2.at("decay_rate");
  REQUIRE(rates.size() == kRootBins);
  CHECK(rates.front() > 2 * rates.back());  // large gradients, little decay
  CHECK(l2.at("root_v").front() < l2.at("root_v").back());
  CHECK(decoupled.at("decay_part/rnn.weight_hh_l0").front() > 0);
  CHECK(plain.at("decay_part/rnn.weight_hh_l0").front() == 0);
  CHECK(plain.at("gradient_part/head.weight").front() > 0);
  CHECK(!plain.contains("decay_rate"));
  CHECK(plain.at("best_validation_loss").front() <= plain.at("validation_loss").front());
}

TEST_CASE("comparison: tables and spreads as text") {
  CHECK(spread_text({}) == "-");
  CHECK(spread_text({.median = 1, .low = 0.5, .high = 2, .count = 3}, "%.1f") == "1.0 [0.5, 2.0]");
  CHECK(spread_text({.median = 1, .low = 1, .high = 1, .count = 1, .missing = 2}, "%.0f") == "1 (1 of 3)");
  CHECK(table_text("title", {{"a", "b"}, {"long", "2"}, {"x"}}) == "title\na     b\nlong  2\nx\n");
}

#endif

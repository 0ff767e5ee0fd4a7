// The numbers that a step probe measures, each computed anew from the raw arrays.
#include "step_probe_support.hpp"

#include "nn/layer_gradcheck.hpp"

#include <map>
#include <numeric>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("every number of a parameter is that of its raw gradient from before the clipping") {
  ParamStore store(3);
  const Linear layer(store.root() / "fc", 5, 4);
  const Parameter unused = store.root().parameter("unused", {3}, init::ones());
  Attached attached;
  Array raw;
  {
    Tape tape;
    const Tensor y = relu(layer(Tensor(sample({6, 5}, 1))));
    tape.backward(sum(y * y));
    raw = layer.weight.grad();
  }
  raw.data()[0] = 0;
  raw.data()[1] = std::numeric_limits<real>::infinity();
  Parameter(layer.weight).set_grad(raw);
  clip_grad_value(store, 1e-3);  // does not clip: a gradient is infinite
  CHECK(at(attached.record(store).parameters, "fc.weight").grad_nonfinite == 1);
  raw.data()[1] = real(0.3);
  Parameter(layer.weight).set_grad(raw);
  attached.probe->begin(true);
  const double joint = clip_grad_norm(store, 1e-3);
  CHECK(joint > 1e-3);
  check_near(norm_of(layer.weight.grad()), 1e-3 * norm_of(raw) / joint, {1e-5, 0});

  const StepRecord record = attached.record(store);
  CHECK(record.parameters.size() == 3);
  const ParameterStats& p = at(record.parameters, "fc.weight");
  check_near(p.grad_norm, norm_of(raw), kClose);
  double largest = 0;
  index_t zeros = 0;
  std::map<int, index_t> buckets;
  for (real v : raw) {
    const double x = std::abs(static_cast<double>(v));
    largest = std::max(largest, x);
    if (x == 0) ++zeros;
    else ++buckets[static_cast<int>(std::floor(std::log2(x)))];
  }
  CHECK(*p.grad_max == largest);
  CHECK(*p.grad_nonfinite == 0);
  CHECK(zeros > 0);
  CHECK(*p.grad_zero_share == static_cast<double>(zeros) / static_cast<double>(raw.size()));
  CHECK(p.grad_histogram.low() == buckets.begin()->first);
  for (std::size_t i = 0; i < p.grad_histogram.counts().size(); ++i) {
    INFO("2^", p.grad_histogram.low() + static_cast<int>(i));
    CHECK(p.grad_histogram.counts()[i] == buckets[p.grad_histogram.low() + static_cast<int>(i)]);
  }
  const auto& counts = p.grad_histogram.counts();
  CHECK(std::accumulate(counts.begin(), counts.end(), index_t{0}) + zeros == numel(raw));
  const ParameterStats& none = at(record.parameters, "unused");
  CHECK(none.grad_norm == 0);
  CHECK(*none.grad_zero_share == 1);
  CHECK(none.grad_histogram.counts().empty());
}

TEST_CASE("outputs of layers: mean, deviation and the gradient, also of a layer that runs twice and on two tapes") {
  ParamStore store(4);
  const Linear first(store.root() / "first", 3, 3), second(store.root() / "second", 3, 2);
  Attached attached;
  std::vector<Array> values, gradients;
  for (std::uint64_t part = 0; part < 2; ++part) {
    Tape tape;
    const Tensor a = first(Tensor(sample({4, 3}, part))), b = first(a);
    for (const Tensor& y : {a, b}) {
      values.push_back(y.value());
      tape.on_grad(y, [&](const Array& grad) { gradients.push_back(grad); });
    }
    const Tensor y = second(b);
    tape.backward(sum(y * y));
  }
  const LayerStats layer = at(attached.record(store).layers, "first");
  double sum = 0, squares = 0, grad_squares = 0, count = 0;
  for (const Array& x : values)
    for (real v : x) sum += static_cast<double>(v), ++count;
  for (const Array& x : values)
    for (real v : x) squares += std::pow(static_cast<double>(v) - sum / count, 2);
  for (const Array& x : gradients) grad_squares += std::pow(norm_of(x), 2);
  CHECK(gradients.size() == 4);
  check_near(layer.mean, sum / count, kClose);
  check_near(layer.stddev, std::sqrt(squares / count), kClose);
  check_near(*layer.output_grad_norm, std::sqrt(grad_squares), kClose);
}

TEST_CASE("outputs of layers whose squares leave the range have their deviation and gradient norm") {
  for (const double big : {tolerance(1e200, 1e30), tolerance(1e-200, 1e-30)}) {
    const ParamStore store;
    Attached attached;
    {
      Tape tape;
      const LayerScope here("big");
      const Tensor y = here.output(tape.variable(row({3 * big, -big})) * real(1));
      tape.backward(y, row({3 * big, 4 * big}));
    }
    const LayerStats numbers = at(attached.record(store).layers, "big");
    check_near(numbers.mean, big, {1e-6, 0});
    check_near(numbers.stddev, 2 * big, {1e-6, 0});
    REQUIRE(numbers.output_grad_norm);
    check_near(*numbers.output_grad_norm, 5 * big, {1e-6, 0});
  }
}

TEST_CASE("a layer whose output gets no gradient has none, and layers stand in the order in which they ran") {
  ParamStore store(4);
  const Linear last(store.root() / "last", 2, 2), aside(store.root() / "aside", 2, 2),
      first(store.root() / "first", 2, 2);
  Attached attached;
  Tape tape;
  const Tensor x = first(Tensor(sample({3, 2}, 1)));
  aside(x);
  tape.backward(sum(last(x)));
  const StepRecord record = attached.record(store);
  REQUIRE(record.layers.size() == 3);
  CHECK(record.layers[0].name == "first");
  CHECK(record.layers[1].name == "aside");
  CHECK(record.layers[2].name == "last");
  CHECK(!record.layers[1].output_grad_norm);
  CHECK(record.layers[2].output_grad_norm);
}

TEST_CASE("looking on does not change a gradient bit, and without a probe none is called") {
  const IndexArray ids = ids_of(2, 9, 11);
  const auto gradients = [&](bool probed) {
    ParamStore store(8);
    const CharRNN model(store.root(), {.vocab = 11, .embedding = 4, .hidden = 6, .layers = 2});
    const TransformerLM transformer((store.root() / "lm"),
                                    {.vocab = 11, .context = 9, .width = 8, .heads = 2, .layers = 2});
    std::optional<Attached> attached;
    if (probed) attached.emplace();
    const index_t calls = Probe::calls();
    {
      Tape tape;
      tape.backward(cross_entropy(model(ids).logits, ids) + cross_entropy(transformer(ids), ids));
    }
    clip_grad_norm(store, 0.1);
    CHECK((Probe::calls() > calls) == probed);
    std::vector<Array> out;
    for (const Parameter& p : store.parameters()) out.push_back(p.grad());
    return out;
  };
  const std::vector<Array> alone = gradients(false), seen = gradients(true);
  for (std::size_t i = 0; i < alone.size(); ++i) check_equal(seen[i], alone[i]);
}

TEST_CASE("gates, tanh and relu: shares at the ends, and dead units by the layer before them") {
  ParamStore store(9);
  const Linear fc(store.root() / "fc", 3, 4);
  Attached attached;
  Tape tape;
  Array x = sample({5, 3}, 37);
  Parameter(fc.bias).set_value(row({-100, 0, 0, 100}));
  const Tensor y = relu(fc(Tensor(x)));
  const Array z = row({-3, -1, 0, 1.9, 2.5, 4});
  tanh(y * real(0) + Tensor(row({0, 0, 0, 0})));  // 20 zeros of no layer
  const Tensor s = sigmoid(Tensor(z));
  const StepRecord record = attached.record(store);
  double dead = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    bool alive = false;
    for (std::size_t i = 0; i < 5; ++i) alive = alive || y.value()(i, j) > 0;
    dead += !alive;
  }
  CHECK(dead >= 1);
  CHECK(at(record.units, "fc.relu").dead == dead / 4);
  CHECK(!at(record.units, "fc.relu").low);
  CHECK(at(record.units, "tanh").high == 0);
  CHECK(*at(record.units, "sigmoid").low == 1.0 / 6);   // -3: 0.047
  CHECK(*at(record.units, "sigmoid").high == 1.0 / 6);  // 4: 0.982
}

TEST_CASE("shares of an LSTM's gates are those of gates computed by hand") {
  ParamStore store(10);
  constexpr index_t B = 2, T = 3, H = 3;
  const LSTM layer(store.root() / "rnn", 2, H);
  const Array x = sample({B, T, 2}, 47, -30, 30);
  Attached attached;
  Tape tape;
  const Tensor y = layer(Tensor(x)).y;
  const StepRecord record = attached.record(store);
  const RecurrentParameters& p = layer.parameters()[0];
  std::map<std::string, std::pair<double, double>> wanted;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t row = 0; row < 4 * H; ++row) {
        double sum = static_cast<double>(p.bias_ih.value()(row)) + static_cast<double>(p.bias_hh.value()(row));
        for (std::size_t i = 0; i < 2; ++i)
          sum += static_cast<double>(p.weight_ih.value()(row, i)) * static_cast<double>(x(b, t, i));
        for (std::size_t j = 0; t > 0 && j < H; ++j)
          sum += static_cast<double>(p.weight_hh.value()(row, j)) * static_cast<double>(y.value()(b, t - 1, j));
        const bool candidate = row / H == 2;
        const double gate = candidate ? std::tanh(sum) : 1 / (1 + std::exp(-sum));
        auto& [low, high] = wanted[std::vector<std::string>{"input", "forget", "cell", "output"}[row / H]];
        low += gate < (candidate ? -0.95 : 0.05);
        high += gate > 0.95;
      }
  for (const auto& [gate, counts] : wanted) {
    INFO(gate);
    const UnitStats& units = at(record.units, "rnn_l0." + gate);
    check_near(*units.low, counts.first / (B * T * H), {1e-12, 0});
    check_near(*units.high, counts.second / (B * T * H), {1e-12, 0});
  }
}

TEST_CASE("attention: entropy and largest logit by head, over what is visible") {
  ParamStore store(11);
  constexpr index_t B = 2, T = 5, C = 4;
  const MultiHeadAttention layer(store.root() / "attn", {.width = C, .heads = 2});
  const Array x = sample({B, T, C}, 57, -2, 2);
  const Mask padding = padding_mask(indices({2}, {5, 3}), T);
  Attached attached;
  Tape tape;
  layer(Tensor(x), {.causal = true, .key_padding = padding});
  const AttentionStats numbers = at(attached.record(store).attention, "attn");
  const Array qkv = linear(Tensor(x), Tensor(layer.in_proj_weight.value()), Tensor(layer.in_proj_bias.value())).value();
  for (std::size_t h = 0; h < 2; ++h) {
    double entropy = 0, share = 0, largest = -1e300, rows = 0, shared = 0;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = 0; t < T; ++t) {
        std::vector<double> logits;
        for (std::size_t s = 0; s <= t; ++s) {
          if (padding(b, s)) continue;
          double dot = 0;
          for (std::size_t d = 0; d < 2; ++d)
            dot += static_cast<double>(qkv(b, t, 2 * h + d)) * static_cast<double>(qkv(b, s, C + 2 * h + d));
          logits.push_back(dot / std::sqrt(2.0));
        }
        double total = 0, sum = 0;
        for (double l : logits) total += std::exp(l), largest = std::max(largest, l);
        for (double l : logits) sum -= std::exp(l) / total * (l - std::log(total));
        entropy += sum, ++rows;
        if (logits.size() > 1) share += sum / std::log(static_cast<double>(logits.size())), ++shared;
      }
    check_near(numbers.entropy[h], entropy / rows, kClose);
    check_near(numbers.entropy_share[h], share / shared, kClose);
    check_near(numbers.largest_logit[h], largest, kClose);
  }
}

TEST_CASE("a tape outlives its probe, and one made while another records is not seen") {
  ParamStore store(12);
  const Linear layer(store.root() / "fc", 2, 2);
  auto attached = std::make_unique<Attached>();
  {
    Tape tape;
    const Tensor y = layer(Tensor(sample({2, 2}, 1)));
    {
      Tape inner;
      inner.backward(sum(layer(Tensor(sample({2, 2}, 2)))));
    }
    attached.reset();
    tape.backward(sum(y));
  }
  CHECK(Probe::attached() == nullptr);
  CHECK(Probe::active() == nullptr);
  check_throws<ValueError>([] { Parameter().name(); }, "empty");
}

TEST_CASE("every layer and model shows itself to the probe") {
  for (const LayerCase& entry : layer_grad_cases()) {
    INFO(entry.layer, ", ", entry.title);
    if (entry.layer == "Dropout") continue;  // its output is its input, but for a mask
    ParamStore store(7);
    Attached attached;
    Tape tape;
    std::vector<Tensor> inputs;
    for (const Array& input : entry.inputs) inputs.push_back(tape.variable(input));
    const Tensor y = entry.build(store.root())(inputs);
    tape.backward(sum(y * y));
    const StepRecord record = attached.record(store);
    CHECK(record.layers.size() + record.times.size() > 0);
    CHECK(LayerScope::current().empty());
  }
}

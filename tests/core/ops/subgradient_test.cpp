// Checks every line of the table in docs/subgradients.md.
#include "subgradient_edges.hpp"

#include <fstream>
#include <limits>
#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

std::vector<TableLine> kinks() {
  const double sigmoid1 = 1 / (1 + std::exp(-1.0));
  return {
      {"`relu`", "x = 0", [](Inputs a) { return relu(a[0]); }, {row({0, -0.0})}, row({2, 3}), {row({0, 0})}},
      {"`relu`", "x < 0, g is NaN", [](Inputs a) { return relu(a[0]); }, {row({-1})}, row({kNaN}), {row({0})}},
      {"`leaky_relu`",
       "x = 0",
       [](Inputs a) { return leaky_relu(a[0], real(0.25)); },
       {row({0})},
       row({2}),
       {row({0.5})}},
      {"`elu`", "x = 0", [](Inputs a) { return elu(a[0], real(0.5)); }, {row({0})}, row({2}), {row({1})}},
      {"`softplus`",
       "beta x = threshold",
       [](Inputs a) { return softplus(a[0], 2, 1); },
       {row({0.5, 0.75})},
       row({1, 1}),
       {row({sigmoid1, 1})}},
      {"`abs`", "x = 0", [](Inputs a) { return abs(a[0]); }, {row({0, -0.0})}, row({2, 3}), {row({0, 0})}},
      {"`sqrt`", "x = 0", [](Inputs a) { return sqrt(a[0]); }, {row({0, 0})}, row({1, 0}), {row({kInf, 0})}},
      {"`pow`",
       "base 0, exponent 0",
       [](Inputs a) { return pow(a[0], a[1]); },
       {row({0}), row({0})},
       row({1}),
       {row({0}), row({0})}},
      {"`pow`",
       "base 0, exponent between 0 and 1",
       [](Inputs a) { return pow(a[0], a[1]); },
       {row({0}), row({0.5})},
       row({1}),
       {row({kInf}), row({0})}},
      {"`pow`",
       "base 0, exponent above 1",
       [](Inputs a) { return pow(a[0], a[1]); },
       {row({0, 0}), row({2, 1.5})},
       row({1, 1}),
       {row({0, 0}), row({0, 0})}},
      {"`clamp`",
       "x = low or x = high",
       [](Inputs a) { return clamp(a[0], -1, 2); },
       {row({-1, 2})},
       row({3, 4}),
       {row({3, 4})}},
      {"`clamp`",
       "x outside, g is NaN or infinite",
       [](Inputs a) { return clamp(a[0], -1, 2); },
       {row({-2, 3})},
       row({kNaN, kInf}),
       {row({0, 0})}},
      {"`relu`, `leaky_relu`, `elu`, `abs`, `clamp`",
       "x is NaN",
       [](Inputs a) { return relu(a[0]) + leaky_relu(a[1]) + elu(a[2]) + abs(a[3]) + clamp(a[4], -1, 1); },
       {row({kNaN, kNaN}), row({kNaN, kNaN}), row({kNaN, kNaN}), row({kNaN, kNaN}), row({kNaN, kNaN})},
       row({1, 0}),
       std::vector<Array>(5, row({kNaN, 0}))},
      {"`leaky_relu`, `elu`",
       "x < 0, a slope or alpha of 0, g is NaN or infinite",
       [](Inputs a) { return leaky_relu(a[0], 0) + elu(a[1], 0); },
       {row({-1, -2}), row({-1, -2})},
       row({kNaN, kInf}),
       {row({0, 0}), row({0, 0})}},
      {"`abs`",
       "x = 0, g is NaN or infinite",
       [](Inputs a) { return abs(a[0]); },
       {row({0, -0.0})},
       row({kNaN, kInf}),
       {row({0, 0})}},
      {"`norm`", "x = 0", [](Inputs a) { return norm(a[0]); }, {row({0, 0})}, array({}, {1}), {row({0, 0})}},
      {"`norm`, `stddev`",
       "x = 0 or all elements equal, g is NaN or infinite",
       [](Inputs a) { return norm(a[0], {1}) + stddev(a[1], {1}); },
       {array({2, 2}, {0, 0, 0, 0}), array({2, 2}, {2, 2, 3, 3})},
       row({kNaN, kInf}),
       {array({2, 2}, {0, 0, 0, 0}), array({2, 2}, {0, 0, 0, 0})}},
      {"`stddev`",
       "all elements equal",
       [](Inputs a) { return stddev(a[0]); },
       {row({2, 2})},
       array({}, {1}),
       {row({0, 0})}},
      {"`l1_loss`",
       "input = target",
       [](Inputs a) { return l1_loss(a[0], a[1]); },
       {row({1}), row({1})},
       array({}, {1}),
       {row({0}), row({0})}},
      {"`huber_loss`",
       "distance = delta",
       [](Inputs a) { return huber_loss(a[0], a[1], {.delta = 2, .reduction = Reduction::none}); },
       {row({2, -2}), row({0, 0})},
       row({1, 1}),
       {row({2, -2}), row({-2, 2})}},
  };
}

std::vector<TableLine> choices() {
  const Mask second = mask({2}, {false, true});
  return {
      {"`maximum`",
       "a = b",
       [](Inputs a) { return maximum(a[0], a[1]); },
       {row({3}), row({3})},
       row({4}),
       {row({2}), row({2})}},
      {"`minimum`",
       "a = b",
       [](Inputs a) { return minimum(a[0], a[1]); },
       {row({3}), row({3})},
       row({4}),
       {row({2}), row({2})}},
      {"`maximum`",
       "a < b, g is NaN",
       [](Inputs a) { return maximum(a[0], a[1]); },
       {row({1}), row({3})},
       row({kNaN}),
       {row({0}), row({kNaN})}},
      {"`where`",
       "an operand that is not selected, g is NaN",
       [=](Inputs a) { return where(second, a[0], a[1]); },
       {row({1, 2}), row({3, 4})},
       row({kNaN, 1}),
       {row({0, 1}), row({kNaN, 0})}},
      {"`masked_fill`",
       "a filled element, g is NaN",
       [=](Inputs a) { return masked_fill(a[0], second, -kInfinity); },
       {row({1, 2})},
       row({1, kNaN}),
       {row({1, 0})}},
      {"`max`",
       "ties",
       [](Inputs a) { return max(a[0]); },
       {row({5, 1, 5, 5, 5})},
       array({}, {4}),
       {row({1, 0, 1, 1, 1})}},
      {"`min`", "ties", [](Inputs a) { return min(a[0]); }, {row({1, 1, 5})}, array({}, {4}), {row({2, 2, 0})}},
      {"`max`",
       "an element is NaN",
       [](Inputs a) { return max(a[0]); },
       {row({5, kNaN})},
       array({}, {4}),
       {row({0, 4})}},
      {"`max`, `min`",
       "an element that is not selected, g is NaN or infinite",
       [](Inputs a) { return max(a[0], {1}) + min(a[1], {1}); },
       {array({2, 2}, {1, 2, 1, 2}), array({2, 2}, {1, 2, 1, 2})},
       row({kNaN, kInf}),
       {array({2, 2}, {0, kNaN, 0, kInf}), array({2, 2}, {kNaN, 0, kInf, 0})}},
      {"`pow`",
       "base 0, exponent 0 or above 1, g is NaN or infinite",
       [](Inputs a) { return pow(a[0], a[1]); },
       {row({0, 0, 0, 0}), row({0, 2, 0, 2})},
       row({kNaN, kNaN, kInf, kInf}),
       {row({0, 0, 0, 0}), row({0, 0, 0, 0})}},
  };
}

std::vector<TableLine> infinities() {
  const IndexArray ignored = indices({2}, {kIgnore, 1});
  const double large = 1 / std::sqrt(1e-5);
  return {
      {"`logsumexp`",
       "all elements minus infinity",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({-kInf, -kInf})},
       array({}, {1}),
       {row({0, 0})}},
      {"`logsumexp`",
       "an element is infinite",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({kInf, 1})},
       array({}, {1}),
       {row({kNaN, 0})}},
      {"`softmax`",
       "all elements minus infinity (the result is 0)",
       [](Inputs a) { return softmax(a[0]); },
       {row({-kInf, -kInf})},
       row({1, 2}),
       {row({0, 0})}},
      {"`kl_div`",
       "target = 0",
       [](Inputs a) { return kl_div(a[0], a[1]); },
       {row({-1}), row({0})},
       array({}, {1}),
       {row({0}), row({0})}},
      {"`kl_div` with `log_target`",
       "target = minus infinity",
       [](Inputs a) { return kl_div(a[0], a[1], {.log_target = true}); },
       {row({-1}), row({-kInf})},
       array({}, {1}),
       {row({0}), row({0})}},
      {"`cross_entropy`",
       "ignored target",
       [=](Inputs a) { return cross_entropy(a[0], ignored, {.reduction = Reduction::sum}); },
       {array({2, 2}, {1, 2, 0, 0})},
       array({}, {1}),
       {array({2, 2}, {0, 0, 0.5, -0.5})}},
      {"`cross_entropy`",
       "soft target 0, logit minus infinity",
       [](Inputs a) { return cross_entropy(a[0], Tensor(row({0, 0.25, 0.75}))); },
       {row({-kInf, 0, 0})},
       array({}, {1}),
       {row({0, 0.25, -0.25})}},
      {"`layer_norm`",
       "all elements equal",
       [](Inputs a) { return layer_norm(a[0]); },
       {row({7, 7})},
       row({1, 3}),
       {row({-large, large})}},
      {"`batch_norm`",
       "all values of a channel equal",
       [](Inputs a) { return batch_norm(a[0]).y; },
       {array({2, 1}, {7, 7})},
       array({2, 1}, {1, 3}),
       {array({2, 1}, {-large, large})}},
      {"`layer_norm`, `rms_norm`",
       "all elements equal or x = 0, eps = 0, any g",
       [](Inputs a) { return layer_norm(a[0], a[1], {}, 0) + rms_norm(a[2], a[1], 0); },
       {array({2, 2}, {7, 7, 8, 8}), row({1, 2}), array({2, 2}, {0, 0, 0, 0})},
       array({2, 2}, {1, kNaN, kInf, 2}),
       {array({2, 2}, {0, 0, 0, 0}), row({0, 0}), array({2, 2}, {0, 0, 0, 0})}},
      {"`batch_norm`",
       "all values of a channel equal, eps = 0, any g",
       [](Inputs a) { return batch_norm(a[0], a[1], {}, 0).y; },
       {array({2, 2}, {7, 8, 7, 8}), row({1, 2})},
       array({2, 2}, {1, kNaN, 2, kInf}),
       {array({2, 2}, {0, 0, 0, 0}), row({0, 0})}},
      {"`batch_norm_eval`",
       "variance = 0, eps = 0, any g",
       [](Inputs a) { return batch_norm_eval(a[0], row({7, 8}), row({0, 0}), a[1], {}, 0); },
       {array({2, 2}, {7, 8, 6, 8}), row({1, 2})},
       array({2, 2}, {1, kNaN, 2, kInf}),
       {array({2, 2}, {0, 0, 0, 0}), row({0, 0})}},
      {"`batch_norm_eval`",
       "x is NaN or infinite",
       [](Inputs a) { return batch_norm_eval(a[0], row({0, 0}), row({1, 1}), {}, {}, 0); },
       {array({2, 2}, {kNaN, 1, kInf, 2})},
       array({2, 2}, {1, 2, 3, 4}),
       {array({2, 2}, {1, 2, 3, 4})}},
  };
}

std::vector<TableLine> all_lines() {
  std::vector<TableLine> all;
  for (const auto& part : {kinks(), choices(), infinities(), selections(), nans(), attentions()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "function, where" of every line of the table.
std::set<std::string> documented() {
  std::ifstream file(XTAPE_SOURCE_DIR "/docs/subgradients.md");
  REQUIRE(file.good());
  std::set<std::string> out;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    std::istringstream cells(line);
    std::string skip, function, where;
    std::getline(cells, skip, '|');
    std::getline(cells, function, '|');
    std::getline(cells, where, '|');
    out.insert(trimmed(function) + ", " + trimmed(where));
  }
  return out;
}

}  // namespace

TEST_CASE("gradients at ties, kinks and edges are those of the table") {
  for (const TableLine& line : all_lines()) {
    INFO(line.function, ", ", line.where);
    const Evaluated e = evaluate(line.f, line.inputs, line.upstream);
    REQUIRE(e.grads.size() == line.gradients.size());
    for (std::size_t i = 0; i < e.grads.size(); ++i)
      check_near(e.grads[i], line.gradients[i], {tolerance(1e-12, 1e-6), 0});
  }
}

TEST_CASE("the table of subgradients and its checks have the same lines") {
  const std::set<std::string> lines = documented();
  std::set<std::string> checked;
  for (const TableLine& line : all_lines()) checked.insert(line.function + ", " + line.where);
  CHECK(lines.size() > 30);
  for (const std::string& line : lines) CHECK_MESSAGE(checked.count(line) == 1, "no check: ", line);
  for (const std::string& line : checked) CHECK_MESSAGE(lines.count(line) == 1, "not in the table: ", line);
}

// Claims about layer and batch normalization.
#include "studies/common/arrays.hpp"
#include "studies/common/claims.hpp"

#include <xtape/inspect/measure/jacobian.hpp>
#include <xtape/xtape.hpp>

using namespace xtape;
using namespace xtape::theory;

namespace {

constexpr index_t kRows = 4, kColumns = 5;

/// Entries of d y_ij / d x_kl that are not exactly zero although `related(i, j, k, l)` is false, and those that are
/// zero although it is true.
template <class Related>
std::pair<double, double> pattern_errors(const Array& jacobian, const Related& related) {
  double leaks = 0, gaps = 0;
  for (std::size_t out = 0; out < kRows * kColumns; ++out)
    for (std::size_t in = 0; in < kRows * kColumns; ++in) {
      const bool nonzero = jacobian(out, in) != 0;
      const bool expected = related(out / kColumns, out % kColumns, in / kColumns, in % kColumns);
      leaks += nonzero && !expected;
      gaps += !nonzero && expected;
    }
  return {leaks, gaps};
}

/// N1. LayerNorm: dy_ij/dx_kl = 0 unless k = i. BatchNorm in training: 0 unless l = j.
void who_depends_on_whom(Report& report) {
  Claim claim(report, {"N1", "LayerNorm's y_ij depends on row i only, BatchNorm's on column j only (in training).",
                       "dy_ij/dx_kl = 0 for k != i (LayerNorm), for l != j (BatchNorm)",
                       "Ba, Kiros, Hinton 2016; Ioffe, Szegedy 2015"});
  Random random(report.seed(), "norms");
  const Array x = normal_array({kRows, kColumns}, random);
  ParamStore store;
  const LayerNorm layer(store.root() / "layer", kColumns);
  const BatchNorm batch(store.root() / "batch", kColumns);
  const auto rows = pattern_errors(jacobian([&](const Tensor& in) { return layer(in); }, x),
                                   [](auto i, auto, auto k, auto) { return i == k; });
  const auto columns = pattern_errors(jacobian([&](const Tensor& in) { return batch(in); }, x),
                                      [](auto, auto j, auto, auto l) { return j == l; });
  claim.equal("LayerNorm, 4 rows and 5 columns: nonzero entries outside the row", 0, rows.first);
  claim.equal("LayerNorm: zero entries within it", 0, rows.second);
  claim.equal("BatchNorm: nonzero entries outside the column", 0, columns.first);
  claim.equal("BatchNorm: zero entries within it", 0, columns.second);
  store.eval();
  const auto fixed = pattern_errors(jacobian([&](const Tensor& in) { return batch(in); }, x),
                                    [](auto i, auto j, auto k, auto l) { return i == k && j == l; });
  claim.equal("BatchNorm in evaluation: nonzero entries off the diagonal", 0, fixed.first);
}

/// N2. |y - beta|_2 = |gamma| sqrt(d): the normalized row has mean 0 and biased variance 1, so its squares sum to d.
void length(Report& report) {
  Claim claim(report, {"N2", "LayerNorm puts every row on a sphere of radius |gamma| sqrt(d) around beta.",
                       "|y - beta|_2 = |gamma| sqrt(d), scalar gamma, eps = 0, biased variance, row not constant",
                       "definition of the variance"});
  Random random(report.seed(), "length");
  for (index_t d : {3, 16, 300}) {
    const double weight = -1.7, bias = 0.4;
    ParamStore store;
    LayerNorm layer(store.root(), d, {.eps = 0});
    std::fill_n(layer.weight.edit(), d, static_cast<real>(weight));
    std::fill_n(layer.bias.edit(), d, static_cast<real>(bias));
    Array y = layer(normal_array({1, d}, random, 5, 100)).value();
    y -= static_cast<real>(bias);
    claim.relative("d = " + std::to_string(d) + ", rows of mean 100",
                   std::abs(weight) * std::sqrt(static_cast<double>(d)), norm_of(y), 1e-12);
  }
}

void measure(int argc, char** argv) {
  Report report("theory_normalization", "Measures what theory says of layer and batch normalization.", {}, argc, argv);
  who_depends_on_whom(report);
  length(report);
  report.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

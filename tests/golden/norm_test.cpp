// Normalization ops and dropout against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

GoldenTable layer_norms() {
  return {
      {"layer_norm/no affine", [](Golden& g) { return layer_norm(g.in("x")); }},
      {"layer_norm/gain and bias", [](Golden& g) { return layer_norm(g.in("x"), g.in("weight"), g.in("bias")); }},
      {"layer_norm/gain only, wide", [](Golden& g) { return layer_norm(g.in("x"), g.in("weight")); }},
      {"layer_norm/eps", [](Golden& g) { return layer_norm(g.in("x"), g.in("weight"), g.in("bias"), 0.125); }},
      {"layer_norm/large mean", [](Golden& g) { return layer_norm(g.in("x")); }},
  };
}

GoldenTable rms_norms() {
  return {
      {"rms_norm/no affine", [](Golden& g) { return rms_norm(g.in("x")); }},
      {"rms_norm/gain", [](Golden& g) { return rms_norm(g.in("x"), g.in("weight")); }},
      {"rms_norm/wide", [](Golden& g) { return rms_norm(g.in("x"), g.in("weight")); }},
      {"rms_norm/eps", [](Golden& g) { return rms_norm(g.in("x"), g.in("weight"), 0.125); }},
  };
}

GoldenTable batch_norms() {
  const auto training = [](Golden& g) { return batch_norm(g.in("x"), g.in("weight"), g.in("bias")).y; };
  const auto evaluation = [](Golden& g) {
    return batch_norm_eval(g.in("x"), g.fixed("mean").value(), g.fixed("variance").value(), g.in("weight"),
                           g.in("bias"));
  };
  return {
      {"batch_norm/rows", training},
      {"batch_norm/sequences", training},
      {"batch_norm/no affine", [](Golden& g) { return batch_norm(g.in("x")).y; }},
      {"batch_norm_eval/rows", evaluation},
      {"batch_norm_eval/sequences", evaluation},
  };
}

GoldenTable dropouts() {
  const auto dropped = [](double p, const RandomKey& key) {
    return [p, key](Golden& g) { return dropout(g.in("x"), p, key); };
  };
  return {
      {"dropout/a quarter", dropped(0.25, {1, 2, 3})},
      {"dropout/half, large key",
       dropped(0.5, {(std::uint64_t{1} << 63) + 12345, (std::uint64_t{1} << 62) + 987654321, std::uint64_t{1} << 40})},
      {"dropout/nothing", dropped(0, {1, 2, 3})},
      {"dropout/everything", dropped(1, {1, 2, 3})},
  };
}

}  // namespace

GoldenTable norm_golden_cases() { return joined({layer_norms(), rms_norms(), batch_norms(), dropouts()}); }

TEST_CASE("normalization and dropout agree with golden values") { check_golden(norm_golden_cases()); }

}  // namespace xtape::test

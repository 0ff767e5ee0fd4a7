#include <xtape/inspect/run/attention_maps.hpp>

#include "child_process.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("attention of a sentence is read back; a head that looks at one place has entropy 0, at all alike 1") {
  const TemporaryDirectory work;
  CHECK(!read_attention(work.path()).any());
  std::vector<float> weights;
  for (int head = 0; head < 2; ++head)
    for (int q = 0; q < 3; ++q)
      for (int k = 0; k < 3; ++k)
        weights.push_back(k > q ? 0 : head == 0 ? static_cast<float>(k == 0) : 1.0f / static_cast<float>(q + 1));
  for (index_t step : {0, 10, 20, 30, 40, 50, 60})
    save_attention(work.path(), step, {"a", "\"", "é"},
                   {"weights", DType::f32, {1, 2, 3, 3}, bytes_of(weights.data(), weights.size())});
  const AttentionMaps maps = read_attention(work.path(), 3);
  REQUIRE(maps.steps.size() == 3);
  CHECK(maps.steps[0].step == 0);
  CHECK(maps.steps[2].step == 60);
  CHECK(maps.tokens == std::vector<std::string>{"a", "\"", "é"});
  CHECK(maps.warnings.empty());
  const std::vector<double> shares = entropy_shares(maps, maps.steps[0]);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0] == 0);
  CHECK(std::abs(shares[1] - 1) < 1e-6);
  work.write("attention/step_60.npy", "garbage");
  work.write("attention/tokens.json", "{");
  const AttentionMaps damaged = read_attention(work.path(), 3);
  CHECK(damaged.steps.size() == 2);
  CHECK(damaged.warnings.size() == 2);
}

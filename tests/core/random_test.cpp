// Random numbers: published test vectors of the generator, streams, distributions.
#include "support.hpp"

#include <xtape/core/random.hpp>

#include <array>
#include <set>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  std::array<std::uint32_t, 4> out{};
  random_bits(seed, stream, number, out);
  return out;
}

}  // namespace

TEST_CASE("Philox4x32-10 reproduces the published test vectors") {  // Random123, kat_vectors
  CHECK(block(0, 0, 0) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(block(ones, ones, ones) == std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(block(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a random word depends on its position only, not on the order of requests") {
  std::vector<std::uint32_t> whole(1001);
  random_bits(7, 8, 0, whole);
  for (const std::size_t from : {0u, 4u, 400u, 996u}) {
    for (const std::size_t length : {0u, 1u, 3u, 4u, 5u}) {
      std::vector<std::uint32_t> part(length);
      random_bits(7, 8, from / 4, part);
      for (std::size_t i = 0; i < length; ++i) CHECK(part[i] == whole[from + i]);
    }
  }
}

TEST_CASE("readers of one stream agree, and other streams and seeds differ") {
  Random a(1, "weights"), b(1, "weights"), other_stream(1, "masks"), other_seed(2, "weights");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t bits = a.bits();
    CHECK(b.bits() == bits);
    CHECK(other_stream.bits() != bits);
    CHECK(other_seed.bits() != bits);
  }
}

TEST_CASE("stream names and sub-streams have distinct ids") {
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(stream_id("layer." + std::to_string(i)));
  ids.insert(stream_id(""));
  for (std::uint64_t i = 0; i < 1000; ++i) ids.insert(substream(stream_id("layer.0"), i));
  CHECK(ids.size() == 2001);
  CHECK(substream(1, 2) != substream(2, 1));
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  Random random(3, "uniform");
  constexpr int n = 1000000;
  double sum = 0, squares = 0, low = 1, high = 0;
  std::array<int, 20> bins{};
  for (int i = 0; i < n; ++i) {
    const double x = random.uniform();
    sum += x;
    squares += x * x;
    low = std::min(low, x);
    high = std::max(high, x);
    ++bins[x * 20];
  }
  CHECK(low >= 0);
  CHECK(low < 1e-4);
  CHECK(high < 1);
  CHECK(high > 1 - 1e-4);
  check_near(sum / n, 0.5, {0, 0.0015});
  check_near(squares / n - sum / n * sum / n, 1.0 / 12, {0, 0.0005});
  for (const int count : bins) check_near(count, n / 20, {0.02, 0});
  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(-3, 5);
    CHECK(x >= -3);
    CHECK(x < 5);
  }
}

TEST_CASE("normal numbers have the moments of a normal distribution") {
  Random random(4, "normal");
  constexpr int n = 1000000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  int within_one = 0, beyond_three = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    CHECK_FALSE((std::isnan(x) || std::isinf(x)));
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    within_one += std::abs(x) < 1;
    beyond_three += std::abs(x) > 3;
  }
  check_near(sum / n, 0, {0, 0.004});
  check_near(squares / n, 1, {0, 0.006});
  check_near(cubes / n, 0, {0, 0.016});
  check_near(fourths / n, 3, {0, 0.04});
  check_near(static_cast<double>(within_one) / n, 0.682689, {0, 0.002});
  check_near(static_cast<double>(beyond_three) / n, 0.0027, {0, 0.0003});
}

TEST_CASE("integers below a bound are uniform, also for bounds that do not divide 2^64") {
  Random random(5, "below");
  for (const index_t bound : {1, 2, 3, 7, 10, 100}) {
    std::vector<int> counts(static_cast<std::size_t>(bound), 0);
    const int n = 20000 * static_cast<int>(bound);
    for (int i = 0; i < n; ++i) {
      const index_t x = random.below(bound);
      REQUIRE(x >= 0);
      REQUIRE(x < bound);
      ++counts[x];
    }
    for (const int count : counts) check_near(count, 20000, {0.04, 0});
  }
  // The remainder of a 64-bit word would lie in each of the lower two thirds of this range with probability 3/8 and in
  // the upper third with 1/4.
  const index_t large = index_t{3} << 61;
  std::array<int, 3> thirds{};
  for (int i = 0; i < 60000; ++i) ++thirds[random.below(large) / (large / 3)];
  for (const int count : thirds) check_near(count, 20000, {0.03, 0});
}

TEST_CASE("a bound below one is refused") {
  Random random(6, "below");
  check_throws<ValueError>([&] { (void)random.below(0); }, "[random] expected a bound of at least 1, got 0");
  check_throws<ValueError>([&] { (void)random.below(-5); }, "[random] expected a bound of at least 1, got -5");
}

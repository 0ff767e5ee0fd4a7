// The digits example as a user runs it, on small made images.
#include "child_process.hpp"
#include "support.hpp"

#include <xtape/core/random.hpp>

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

#if defined(XTAPE_DIGITS) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

/// Ten classes of noise with a mark: two bright pixels whose places differ by the class. The first lies anywhere, so a
/// mean image tells nothing.
std::string made_digits(int count) {
  Random random(5, "made_digits");
  std::string out;
  for (int n = 0; n < count; ++n) {
    int pixels[64];
    for (int& pixel : pixels) pixel = static_cast<int>(random.below(3));
    const auto first = random.below(54);
    const int label = n % 10;
    pixels[first] = pixels[first + label + 1] = 16;
    for (int pixel : pixels) out += std::to_string(pixel) + ",";
    out += std::to_string(label) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("the digits example learns what a mean image cannot show, with every norm") {
  const TemporaryDirectory work;
  work.write("digits.csv", made_digits(1500));
  for (const std::string norm : {"none", "batch", "layer"}) {
    const Finished result = run(
        XTAPE_DIGITS,
        {"--data", "digits.csv", "--norm", norm, "--dropout", "0", "--steps", "400", "--threads", "1", "--out", norm},
        work.path());
    INFO(norm, result.err, result.out);
    CHECK(result.code == 0);
    CHECK(number_after(result.out, "held-out images: ") > number_after(result.out, "nearest class mean: ") + 20);
    CHECK(number_after(result.out, "nearest class mean: ") < 50);
  }
}

TEST_CASE("the digits example goes on where it was stopped, batch statistics too") {
  const TemporaryDirectory work;
  work.write("digits.csv", made_digits(200));
  const std::vector<std::string> options = {"--data",    "digits.csv", "--steps", "12", "--save-interval", "5",
                                            "--threads", "1",          "--batch", "16", "--log-interval",  "3",
                                            "--out"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return run(XTAPE_DIGITS, more, work.path());
  };
  const Finished whole = with({"whole"}), first = with({"parts", "--stop-after", "5"});
  CHECK(first.code == 0);
  const Finished rest = run(XTAPE_DIGITS, {"--resume", "parts", "--threads", "1"}, work.path());
  INFO(first.err, rest.err);
  CHECK(whole.code == 0);
  CHECK(rest.code == 0);
  CHECK(whole.out.substr(whole.out.rfind("accuracy on validation")) ==
        rest.out.substr(rest.out.rfind("accuracy on validation")));
}

TEST_CASE("bad input to the digits example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  work.write("digits.csv", made_digits(50));
  work.write("bad.csv", made_digits(50) + "1,2,3\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--data", "none"}, "no such file"},
      {{"--data", "bad.csv"}, "bad.csv:51: expected 65 fields, got 3"},
      {{"--data", "digits.csv", "--batch", "36"}, "with a batch of 1 to 35, got 0 and 36"},
      {{"--mnist", "."}, "train-images-idx3-ubyte: there is no such file, nor"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = run(XTAPE_DIGITS, options, work.path());
    INFO(options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

#endif

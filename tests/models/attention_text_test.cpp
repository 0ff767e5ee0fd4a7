#include <xtape/models/attention_text.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("attention as text: tenths of each weight under the keys' names") {
  const std::string text =
      "           a b c\n"
      "        ae . 2 7\n"
      "       end 9 . .\n";
  const Array weights = array({2, 3}, {0, 0.25, 0.75, 1, 0.09, 0});
  CHECK(attention_text(weights, {"ae", "end"}, "abc") == text);
  CHECK(attention_text(array({1, 2, 3}, {0, 0.25, 0.75, 1, 0.09, 0}), {"ae", "end"}, "abc") == text);
  CHECK(attention_text(array({1, 4}, {kNaN, -0.1, kInf, 0.9}), {"end"}, "abcd") ==
        "           a b c d\n"
        "       end ? ? 9 9\n");
  check_throws<ShapeError>([&] { attention_text(weights, {"ae"}, "abc"); },
                           "[attention_text] expected weights of shape (");
  check_throws<ShapeError>([&] { attention_text(weights, {"ae", "end", "b"}, "ab"); }, "[attention_text]");
  check_throws<ShapeError>([&] { attention_text(array({2, 2, 1}, {1, 1, 1, 1}), {"x", "y"}, "a"); }, "");
}

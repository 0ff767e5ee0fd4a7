// What a log remembers for a run that goes on later.
#include <xtape/inspect/log/log_state.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the state of a log comes back from its text, what is not finite too") {
  LogState state{.any_logged = true,
                 .since_logged = {.steps = 7, .clipped = 3, .skipped = 1, .loss_min = 0.1, .loss_max = 1.0 / 3},
                 .watched = {{2.5, 0.1}, {1e-300, 7}, {-690.7755278982137}},
                 .events = {{"spike", 2}, {"nonfinite", 1}},
                 .dumps = 4};
  state.since_logged.grad_norm_min = std::numeric_limits<double>::quiet_NaN();
  state.since_logged.grad_norm_max = std::numeric_limits<double>::infinity();
  const LogState back = log_state(log_state_text(state));
  CHECK(back.any_logged);
  CHECK(back.since_logged.steps == 7);
  CHECK(back.since_logged.clipped == 3);
  CHECK(back.since_logged.skipped == 1);
  CHECK(back.since_logged.loss_min == 0.1);
  CHECK(back.since_logged.loss_max == 1.0 / 3);
  CHECK(std::isnan(back.since_logged.grad_norm_min));
  CHECK(back.since_logged.grad_norm_max == std::numeric_limits<double>::infinity());
  CHECK((back.watched.losses == state.watched.losses));
  CHECK((back.watched.norms == state.watched.norms));
  CHECK((back.watched.log_norms == state.watched.log_norms));
  for (const double x : {kInf, -kInf, kNaN, -0.0, 5e-324}) {
    const SpikeDetector::History watched = {{x, 1}, {2, x}, {x}};
    const LogState again = log_state(log_state_text({.watched = watched}));
    REQUIRE(again.watched.losses.size() == 2);
    check_near(again.watched.losses[0], x, {0, 0});
    check_near(again.watched.norms[1], x, {0, 0});
    check_near(again.watched.log_norms[0], x, {0, 0});
  }
  CHECK((back.events == state.events));
  CHECK(back.dumps == 4);
}

TEST_CASE("no text is the state of a new log, and other texts are refused") {
  CHECK(!log_state("").any_logged);
  CHECK(log_state("").since_logged.steps == 0);
  CHECK(std::isnan(log_state("").since_logged.loss_min));
  const std::string whole = log_state_text({});
  for (const std::string& text :
       {std::string("logged"), std::string("{}"), std::string("[1]"), whole.substr(0, whole.size() - 1),
        std::string(R"({"any_logged":true,"interval":"[]"})"), std::string(R"({"any_logged":3,"interval":"{}"})")})
    check_throws<ValueError>([&] { log_state(text); }, "not the state of a run log");
}

TEST_CASE("counts in the state of a log that are no whole numbers are refused") {
  const std::string text = log_state_text({.events = {{"spike", 77}}, .dumps = 77});
  int numbers = 0;
  for (std::size_t at = 0; (at = text.find(":77", at)) != text.npos; ++at, ++numbers)
    for (const char* wrong : {"1e40", "7.5", "18446744073709551615", "true"}) {
      const std::string damaged = std::string(text).replace(at + 1, 2, wrong);
      CAPTURE(damaged);
      check_throws<ValueError>([&] { log_state(damaged); }, "not the state of a run log");
    }
  CHECK(numbers == 2);
}

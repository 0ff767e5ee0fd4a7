// The bench's own arithmetic: halves, what counts as right, intervals.
#include "../../support.hpp"
#include "scoring.hpp"

using namespace xtape;
using namespace xtape::faults;
using namespace xtape::test;

TEST_CASE("the fault bench: hashes and halves are fixed") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);  // the values of the reference implementation
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
  index_t reports = 0;
  for (int i = 0; i < 400; ++i) reports += half_of("kind" + std::to_string(i) + "/model") == Half::report;
  CHECK(reports > 150);
  CHECK(reports < 250);
}

TEST_CASE("the fault bench: Wilson's intervals") {
  // By the formula of the paper, in double precision with Python.
  const struct {
    index_t hits, runs;
    double low, high;
  } rows[] = {{0, 10, 0, 0.277533}, {9, 10, 0.595850, 0.982124}, {50, 100, 0.403832, 0.596168}, {0, 0, 0, 1}};
  for (const auto& row : rows) {
    const Rate rate{row.hits, row.runs};
    check_near(rate.interval()[0], row.low, {0, 1e-5});
    check_near(rate.interval()[1], row.high, {0, 1e-5});
  }
  Rate rate;
  rate.add(true);
  rate.add(false);
  check_near(rate.share(), 0.5, {0, 1e-12});
}

TEST_CASE("the fault bench: what counts as right") {
  const Expected expected{.causes = {"rate_too_high", "spike"},
                          .layers = {"layers.1"},
                          .step = 40,
                          .tolerance = 10,
                          .harmful = {kRaiseRate}};
  Said said{.detected = true, .id = "spike", .layer = "layers.1.linear", .step = 50};
  CHECK(score(expected, said).verdict == "ok");
  said.step = 51;
  CHECK(score(expected, said).verdict == "wrong step");
  said.step = {};  // from the start on
  CHECK(score(expected, said).verdict == "wrong step");
  said.layer = "layers.10";
  CHECK(score(expected, said).verdict == "wrong layer");
  said.id = "overfitting";
  CHECK(score(expected, said).verdict == "wrong cause");
  CHECK(score(expected, {}).verdict == "missed");
  said.advice = {"Increase the learning rate."};
  CHECK(score(expected, said).verdict == "harmful");

  const Expected nowhere{.causes = {"loss_nonfinite"}, .no_layer = true};
  CHECK(score(nowhere, {.detected = true, .id = "loss_nonfinite"}).layer);
  CHECK_FALSE(score(nowhere, {.detected = true, .id = "loss_nonfinite", .layer = "head"}).layer);
}

TEST_CASE("the fault bench: a refusal that names the cause is right") {
  const Expected expected{.refusal = "0\\.\\.8, got 9"};
  CHECK(score(expected, {.refused = "[cross_entropy] expected targets in 0..8, got 9"}).verdict == "ok");
  CHECK(score(expected, {.refused = "[linear] expected x [..., I], got (3)"}).verdict == "missed");
}

TEST_CASE("the fault bench: harmful advice") {
  const auto is_harmful = [](const std::string& advice) {
    return harmful({.causes = {"spike"}, .harmful = {kRaiseRate}}, {.detected = true, .advice = {advice}});
  };
  CHECK(is_harmful("Raise the limit; use a larger learning rate."));
  CHECK_FALSE(is_harmful("Do not raise the learning rate. Raise the limit, or lower the learning rate."));
  CHECK_FALSE(is_harmful("Lower the learning rate."));
  CHECK_FALSE(is_harmful("Look at the batch of that step."));
  CHECK(harmful({}, {.detected = true, .advice = {"Lower the learning rate.", "Try a higher rate."}}));
}

// How the programs of theory against measurement decide.
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"
#include "support.hpp"

#include <cmath>

using namespace xtape;
using namespace xtape::test;
using namespace xtape::theory;

namespace {

Check check(Rule rule, double predicted, double measured, double tolerance) {
  return {"what", rule, predicted, measured, tolerance, true, ""};
}

}  // namespace

TEST_CASE("theory: each rule accepts what is within its tolerance and nothing else") {
  CHECK(check(Rule::near, 3, 3.1, 0.11).agrees());
  CHECK_FALSE(check(Rule::near, 3, 3.1, 0.09).agrees());
  CHECK(check(Rule::near, 3, 3, 0).agrees());
  CHECK(check(Rule::relative, -200, -203, 0.02).agrees());
  CHECK_FALSE(check(Rule::relative, -200, -205, 0.02).agrees());
  CHECK(check(Rule::factor, 10, 39, 4).agrees());
  CHECK(check(Rule::factor, 10, 2.6, 4).agrees());
  CHECK_FALSE(check(Rule::factor, 10, 41, 4).agrees());
  CHECK_FALSE(check(Rule::factor, 10, 2.4, 4).agrees());
  CHECK(check(Rule::at_most, 2, 2, 0).agrees());
  CHECK_FALSE(check(Rule::at_most, 2, 2.001, 0).agrees());
  CHECK(check(Rule::at_least, 2, 2, 0).agrees());
  CHECK_FALSE(check(Rule::at_least, 2, 1.999, 0).agrees());
}

TEST_CASE("theory: tolerances do not vanish at a predicted 0, and ratios of negative numbers are ratios") {
  CHECK(check(Rule::relative, 0, 0, 0).agrees());
  CHECK(check(Rule::relative, 0, -1e-10, 1e-9).agrees());
  CHECK_FALSE(check(Rule::relative, 0, 1e-8, 1e-9).agrees());
  CHECK(check(Rule::factor, -10, -39, 4).agrees());
  CHECK(check(Rule::factor, -10, -2.6, 4).agrees());
  CHECK_FALSE(check(Rule::factor, -10, -41, 4).agrees());
  CHECK_FALSE(check(Rule::factor, -10, -2.4, 4).agrees());
  CHECK_FALSE(check(Rule::factor, -10, 10, 4).agrees());
  CHECK_FALSE(check(Rule::factor, 10, -10, 4).agrees());
  CHECK(check(Rule::factor, 0, 0, 4).agrees());
  CHECK_FALSE(check(Rule::factor, 0, 1e-300, 4).agrees());
  Check stated = check(Rule::relative, 0, 1e-17, 1e-9);
  stated.correction = "another";
  CHECK(stated.verdict() == "the statement is not refuted");
}

TEST_CASE("theory: what is not a number never holds") {
  for (Rule rule : {Rule::near, Rule::relative, Rule::factor, Rule::at_most, Rule::at_least})
    CHECK(check(rule, 1, std::nan(""), 1e9).verdict() == "fails");
}

TEST_CASE("theory: a wrong statement is refuted only by a value away from its own") {
  Check stated = check(Rule::relative, 100, 150, 0.1);
  stated.correction = "150";
  CHECK(stated.verdict() == "the statement is wrong: 150");
  stated.measured = 105;
  CHECK(stated.verdict() == "the statement is not refuted");
  stated.measured = std::nan("");
  CHECK(stated.verdict() == "the statement is not refuted");
}

TEST_CASE("theory: times have words of their own") {
  Check time = check(Rule::near, 2, 2.1, 0.2);
  time.judged = false;
  CHECK(time.verdict() == "as predicted");
  time.measured = 3;
  CHECK(time.verdict() == "not as predicted");
}

TEST_CASE("theory: statistics of measurements") {
  const Mean mean = mean_of({1, 2, 3, 4});
  check_near(mean.mean, 2.5);
  check_near(mean.error, std::sqrt(5.0 / 3 / 4));
  check_near(median_of({5, 1, 3}), 3);
  check_near(median_of({4, 1, 3, 2}), 2.5);
  check_near(linear_coefficient({0, 1, 2}, {1, 3, 5}), 2);
  check_near(exponent_of({1, 2, 4}, {3, 12, 48}), 2);
}

TEST_CASE("theory: results that cannot be written are an error") {
  const char* arguments[] = {"theory_x", "--json", "/no/such/directory/x.json"};
  Report report("theory_x", "Tests.", {}, 3, const_cast<char**>(arguments));
  check_throws<FileError>([&] { report.finish(); },
                          "[write_file] /no/such/directory/x.json: No such file or directory");
}

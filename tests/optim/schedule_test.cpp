#include <functional>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Schedule = std::function<double(index_t)>;

/// Checks the rates of steps 0, 1, ... against the expected list, and of runs that resume at each step k.
void check_rates(const Schedule& schedule, const std::vector<double>& want, double limit = 5e-9) {
  for (std::size_t resumed = 0; resumed < want.size(); ++resumed) {
    for (std::size_t step = resumed; step < want.size(); ++step) {
      INFO("step ", step);
      check_near(schedule(static_cast<index_t>(step)), want[step], {0, limit});
    }
  }
}

}  // namespace

TEST_CASE("schedules: constant, with and without warm-up") {
  check_rates([](index_t s) { return constant(s, {.warmup = 4, .peak = 2}); }, {0.5, 1, 1.5, 2, 2, 2, 2});
  check_rates([](index_t s) { return constant(s, {.peak = 0.3}); }, {0.3, 0.3, 0.3});
}

TEST_CASE("schedules: linear") {
  check_rates([](index_t s) { return linear_decay(s, {.warmup = 2, .total = 6, .peak = 1, .floor = 0.2}); },
              {0.5, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST_CASE("schedules: cosine, all rates from every resume point") {
  check_rates([](index_t s) { return cosine(s, {.warmup = 4, .total = 12, .peak = 0.1, .floor = 0.01}); },
              {0.025, 0.05, 0.075, 0.1, 0.1, 0.09657458, 0.08681981, 0.07222075, 0.055, 0.03777925, 0.02318019,
               0.01342542, 0.01, 0.01});
}

TEST_CASE("schedules: phases of length zero do not divide by zero") {
  check_rates([](index_t s) { return cosine(s, {.total = 2, .peak = 1}); }, {1, 0.5, 0, 0});
  check_rates([](index_t s) { return cosine(s, {.warmup = 2, .total = 2, .peak = 1, .floor = 0.1}); },
              {0.5, 1, 0.1, 0.1});
  check_rates([](index_t s) { return cosine(s, {.total = 0, .peak = 1, .floor = 0.1}); }, {0.1, 0.1});
  check_rates([](index_t s) { return linear_decay(s, {.warmup = 2, .total = 2, .peak = 1}); }, {0.5, 1, 0, 0});
  check_rates([](index_t s) { return warmup_stable_decay(s, {.total = 2, .decay = 0, .peak = 1}); }, {1, 1, 0, 0});
  check_rates([](index_t s) { return one_cycle(s, {.total = 0, .peak = 1, .finish = 0.5}); }, {0.5, 0.5});
  check_rates([](index_t s) { return one_cycle(s, {.total = 1, .peak = 1, .finish = 0.5}); }, {0.5, 0.5});
  check_rates([](index_t s) { return one_cycle(s, {.total = 3, .peak = 1, .rise = 0, .finish = 0}); }, {1, 0.5, 0, 0});
  check_rates([](index_t s) { return one_cycle(s, {.total = 3, .peak = 1, .rise = 1, .start = 0, .finish = 0}); },
              {0, 0.5, 0, 0});
}

TEST_CASE("schedules: step decay, all rates from every resume point") {
  check_rates([](index_t s) { return step_decay(s, {.every = 4, .peak = 100}); },
              {100, 100, 100, 100, 10, 10, 10, 10, 1});
  check_rates([](index_t s) { return step_decay(s, {.warmup = 2, .every = 3, .peak = 8, .factor = 0.5}); },
              {4, 8, 8, 4, 4, 4, 2});
}

TEST_CASE("schedules: exponential") {
  check_rates([](index_t s) { return exponential_decay(s, {.warmup = 2, .peak = 4, .factor = 0.5, .floor = 0.6}); },
              {2, 4, 4, 2, 1, 0.6, 0.6});
}

TEST_CASE("schedules: one_cycle has PyTorch's values") {
  check_rates([](index_t s) { return one_cycle(s, {.total = 10, .peak = 1}); },
              {0.04, 0.52, 1, 0.95048463, 0.81174565, 0.61126202, 0.38874198, 0.18825835, 0.04951937, 4e-6, 4e-6},
              1e-8);
  check_rates([](index_t s) { return one_cycle(s, {.total = 10, .peak = 1, .rise = 0.5}); },
              {0.04, 0.18058875, 0.52, 0.85941125, 1, 0.90450888, 0.65450988, 0.34549412, 0.09549512, 4e-6}, 1e-8);
  check_rates([](index_t s) { return one_cycle(s, {.total = 7, .peak = 1, .rise = 0.15}); },
              {0.04, 0.93840771, 0.75758286, 0.50660177, 0.25382312, 0.06809521, 4e-6}, 1e-8);
}

TEST_CASE("schedules: warm-up, constant, decay") {
  check_rates(
      [](index_t s) { return warmup_stable_decay(s, {.warmup = 2, .total = 9, .decay = 4, .peak = 1, .floor = 0.2}); },
      {0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST_CASE("schedules: inverse_sqrt continues its warm-up without a jump") {
  check_rates([](index_t s) { return inverse_sqrt(s, {.warmup = 4, .peak = 1}); },
              {0.25, 0.5, 0.75, 1, std::sqrt(4.0 / 5), std::sqrt(4.0 / 6)}, 1e-15);
  check_rates([](index_t s) { return inverse_sqrt(s, {.peak = 1}); }, {1, std::sqrt(0.5), std::sqrt(1.0 / 3)}, 1e-15);
}

TEST_CASE("schedules: rates of steps far beyond any training") {
  const index_t far = index_t{1} << 62;
  CHECK(cosine(far, {.warmup = 4, .total = 12, .peak = 1, .floor = 0.5}) == 0.5);
  CHECK(linear_decay(far, {.total = 12, .peak = 1, .floor = 0.5}) == 0.5);
  CHECK(step_decay(far, {.every = 1, .peak = 1}) == 0);
  CHECK(exponential_decay(far, {.peak = 1, .factor = 0.5}) == 0);
  CHECK(inverse_sqrt(far, {.warmup = 4, .peak = 1}) > 0);
}

TEST_CASE("schedules refuse numbers outside their domain") {
  const auto refused = [](const Schedule& schedule, const char* part, index_t step = 3) {
    check_throws<ValueError>([&] { schedule(step); }, part);
  };
  for (const auto& [schedule, name] : std::vector<std::pair<Schedule, const char*>>{
           {[](index_t s) { return constant(s, {.peak = 1}); }, "[constant]"},
           {[](index_t s) { return linear_decay(s, {.total = 9, .peak = 1}); }, "[linear_decay]"},
           {[](index_t s) { return cosine(s, {.total = 9, .peak = 1}); }, "[cosine]"},
           {[](index_t s) { return step_decay(s, {.every = 2, .peak = 1}); }, "[step_decay]"},
           {[](index_t s) { return exponential_decay(s, {.peak = 1, .factor = 0.5}); }, "[exponential_decay]"},
           {[](index_t s) { return one_cycle(s, {.total = 9, .peak = 1}); }, "[one_cycle]"},
           {[](index_t s) { return warmup_stable_decay(s, {.total = 9, .decay = 2, .peak = 1}); },
            "[warmup_stable_decay]"},
           {[](index_t s) { return inverse_sqrt(s, {.peak = 1}); }, "[inverse_sqrt]"}}) {
    schedule(0);
    refused(schedule, name, -1);
    refused(schedule, "expected steps of at least 0, got -1", -1);
  }
  for (double bad : {-1.0, kNaN, kInf}) {
    refused([=](index_t s) { return constant(s, {.peak = bad}); },
            "expected rates that are finite and at least 0, got");
    refused([=](index_t s) { return linear_decay(s, {.total = 9, .peak = 1, .floor = bad}); },
            "expected rates that are finite and at least 0, got ");
    refused([=](index_t s) { return cosine(s, {.total = 9, .peak = bad}); },
            "expected rates that are finite and at least 0, got ");
    refused([=](index_t s) { return cosine(s, {.total = 9, .peak = 1, .floor = bad}); },
            "expected rates that are finite and at least 0, got ");
    refused([=](index_t s) { return step_decay(s, {.every = 2, .peak = bad}); },
            "expected rates that are finite and at least 0, got ");
    refused([=](index_t s) { return step_decay(s, {.every = 2, .peak = 1, .factor = bad}); },
            "expected factor from 0 to 1, got ");
    refused([=](index_t s) { return exponential_decay(s, {.peak = 1, .factor = bad}); },
            "expected factor from 0 to 1, got ");
    refused([=](index_t s) { return one_cycle(s, {.total = 9, .peak = bad}); },
            "expected rates that are finite and at least 0, got ");
    refused([=](index_t s) { return one_cycle(s, {.total = 9, .peak = 1, .rise = bad}); },
            "expected rise from 0 to 1, got ");
    refused([=](index_t s) { return one_cycle(s, {.total = 9, .peak = 1, .start = bad}); },
            "expected start from 0 to 1, got ");
    refused([=](index_t s) { return one_cycle(s, {.total = 9, .peak = 1, .finish = bad}); },
            "expected finish from 0 to 1, got ");
    refused([=](index_t s) { return inverse_sqrt(s, {.peak = bad}); },
            "expected rates that are finite and at least 0, got ");
  }
  refused([](index_t s) { return cosine(s, {.warmup = -1, .total = 9, .peak = 1}); },
          "expected steps of at least 0, got -1");
  refused([](index_t s) { return cosine(s, {.total = -9, .peak = 1}); }, "expected steps of at least 0, got -9");
  refused([](index_t s) { return step_decay(s, {.every = 0, .peak = 1}); }, "expected every of at least 1, got 0");
  refused([](index_t s) { return warmup_stable_decay(s, {.warmup = 5, .total = 9, .decay = 5, .peak = 1}); },
          "expected warm-up and decay within 9 steps, got 10");
}

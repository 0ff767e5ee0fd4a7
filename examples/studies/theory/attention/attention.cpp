// Claims about attention: its scores, its cost, its linear and hard kinds, masks, caches, and where trained heads
// attend.
#include "groups.hpp"

using namespace xtape;
using namespace xtape::theory;

void measure(int argc, char** argv) {
  Report report("theory_attention", "Measures what theory says of attention.", {.steps = 1500, .quick_steps = 250},
                argc, argv);
  scores(report);
  counts(report);
  linear_kinds(report);
  random_features(report);
  hard(report);
  layers(report);
  trainings(report);
  patterns(report);
  report.finish();
}

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

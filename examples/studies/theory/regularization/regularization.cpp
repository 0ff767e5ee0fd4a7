// Claims about weight decay and linear purification.
#include "groups.hpp"

using namespace xtape;
using namespace xtape::theory;

void measure(int argc, char** argv) {
  Report report("theory_regularization", "Measures what theory says of weight decay and linear purification.",
                {.steps = 600, .quick_steps = 120}, argc, argv);
  decay(report);
  real_decay(report);
  purification(report);
  report.finish();
}

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

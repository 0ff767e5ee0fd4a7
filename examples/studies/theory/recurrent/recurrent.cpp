// Claims about recurrent networks: gradients through time, and remedies.
#include "groups.hpp"

using namespace xtape;
using namespace xtape::theory;

void measure(int argc, char** argv) {
  Report report("theory_recurrent", "Measures what theory says of recurrent networks.",
                {.steps = 1500, .quick_steps = 300}, argc, argv);
  states(report);
  gates(report);
  remedies(report);
  look_back(report);
  report.finish();
}

int main(int argc, char** argv) { return run_program(measure, argc, argv); }

// The lines of a run on the console: only columns that have numbers.
#include <xtape/inspect/log/console_table.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the console shows a column from the first line that has a number for it") {
  ConsoleTable table;
  StepRecord record;
  record.loss = 2.5;
  record.grad_norm = 1;
  CHECK(table.lines(record) ==
        "    step      loss  grad norm\n"
        "       0    2.5000     1.0000");
  record.step = 10;
  CHECK(table.lines(record) == "      10    2.5000     1.0000");
  record.step = 20;
  record.lr = 1e-3;
  record.validation_loss = 2.25;
  record.extra = {{"accuracy", 0.75}};
  CHECK(table.lines(record) ==
        "    step      loss  validation        lr  grad norm  accuracy\n"
        "      20    2.5000      2.2500  1.00e-03     1.0000    0.7500");
  record.step = 30;
  record.validation_loss = {};
  record.extra.clear();
  CHECK(table.lines(record) == "      30    2.5000              1.00e-03     1.0000");
}

TEST_CASE("a number that is not finite has its column on the console") {
  ConsoleTable table;
  StepRecord record;
  record.loss = kNaN;
  record.grad_norm = kInf;
  record.validation_loss = kNaN;
  CHECK(table.lines(record) ==
        "    step      loss  validation  grad norm\n"
        "       0       NaN         NaN        Inf");
}

#include <xtape/inspect/log/console.hpp>
#include <xtape/inspect/log/layer_table.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the table shows the first, median and last joint norm of each layer") {
  LayerTable few({"a.weight", "b"}, {12, 3});
  CHECK(few.text() == "");
  few.add({3, kNaN});
  few.add({1, 0});
  few.add({2, 0.12345678});
  CHECK(few.text() ==
        "Gradient norms before clipping\n"
        "layer       elements       first      median        last\n"
        "a.weight          12           3           2           2\n"
        "b                  3         NaN      0.1235      0.1235\n");

  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i)
    for (const char* part : {".weight", ".bias"}) names.push_back("block" + std::to_string(i) + part);
  LayerTable many(names, std::vector<index_t>(40, 2));
  std::vector<double> norms(40, 0);
  norms[2] = 3, norms[3] = 4;
  many.add(norms);
  CHECK(many.text().find("block1            4           5           5           5\n") != std::string::npos);
  CHECK(many.text().find(".bias") == std::string::npos);

  LayerTable large(names, std::vector<index_t>(40, 2));
  norms[2] = 3e200, norms[3] = 4e200;  // whose squares overflow
  large.add(norms);
  CHECK(large.text().find("block1            4      5e+200      5e+200      5e+200\n") != std::string::npos);
}

TEST_CASE("the progress bar tells what is done and the time left at the pace so far") {
  CHECK(progress_text(0, 100, 0, 80) == "  0 % [>                             ] 0/100");
  CHECK(progress_text(25, 100, 30, 80) == " 25 % [=======>                      ] 25/100, 1:30 left");
  CHECK(progress_text(1, 100, 100, 80) == "  1 % [>                             ] 1/100, 2:45:00 left");
  CHECK(progress_text(100, 100, 30, 80) == "100 % [==============================] 100/100, 0:00 left");
  CHECK(progress_text(25, 100, 30, 10) == " 25 % [===");
}

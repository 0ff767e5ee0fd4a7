#include <xtape/nn/positions.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("positions: sines and cosines in pairs, and an odd width ends with a sine") {
  check_near(sinusoidal_positions(3, 5),
             array({3, 5}, {0, 1, 0, 1, 0, 0.8414709848, 0.5403023059, 0.0251162229, 0.9996845379, 0.0006309573,
                            0.9092974268, -0.4161468365, 0.0502165994, 0.9987383507, 0.0012619144}),
             {0, tolerance(1e-10, 1e-7)});
  check_near(sinusoidal_positions(2, 1), array({2, 1}, {0, std::sin(1.0)}), {tolerance(1e-15, 1e-7), 0});
}

TEST_CASE("positions: the wavelength grows from 2 pi to nearly 10000 times 2 pi") {
  const Array table = sinusoidal_positions(4000, 128);
  check_near(static_cast<double>(table(3999, 126)), std::sin(3999 / std::pow(10000, 126.0 / 128)),
             {0, tolerance(1e-12, 1e-6)});
  check_near(static_cast<double>(table(3999, 127)), std::cos(3999 / std::pow(10000, 126.0 / 128)),
             {0, tolerance(1e-12, 1e-6)});
}

TEST_CASE("positions: sizes below 1 are refused") {
  check_throws<ValueError>([] { sinusoidal_positions(0, 4); },
                           "[sinusoidal_positions] expected sizes of at least 1, got");
  check_throws<ValueError>([] { sinusoidal_positions(4, -1); }, "got 4 and -1");
}

// What the tests of the step probe share.
#pragma once

#include <xtape/inspect/log/step_probe.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

#include <string_view>

namespace xtape::test {

constexpr Limits kClose = {tolerance(1e-10, 2e-5), tolerance(1e-12, 1e-6)};

template <class Named>
const Named& at(const std::vector<Named>& list, std::string_view name) {
  for (const Named& x : list)
    if (x.name == name) return x;
  FAIL("there is no " << name);
  return list.front();
}

/// Attached while it lives.
struct Attached {
  std::shared_ptr<StepProbe> probe = std::make_shared<StepProbe>();
  Attached() {
    probe->begin(true);
    probe->attach();
  }
  ~Attached() { probe->detach(); }
  StepRecord record(const ParamStore& store) {
    StepRecord out;
    probe->fill(out, store.parameters());
    return out;
  }
};

inline IndexArray ids_of(index_t batch, index_t time, index_t vocab) {
  IndexArray ids = empty_array<IndexArray>({batch, time});
  for (std::size_t i = 0; i < ids.size(); ++i) ids.data()[i] = static_cast<index_t>(i * i + 3 * i) % vocab;
  return ids;
}

}  // namespace xtape::test

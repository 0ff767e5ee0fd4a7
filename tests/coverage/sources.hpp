// Finds in the sources what exists: op names, public functions, layers, optimizers and schedules.
#pragma once

#include <set>
#include <string>

namespace xtape::test {

/// Names under which ops are recorded: the string literals that core/ops passes to Tape::record, or to a function there
/// that records under a name that it takes. Throws ValueError if a call gives the name in another way.
std::set<std::string> recorded_op_names();

/// Public functions of core/ops that return tensors.
std::set<std::string> op_functions();

/// Classes of nn/ and models/ whose constructor takes a Scope.
std::set<std::string> layer_classes();

/// Classes of optim/ whose constructor takes parameter groups, and schedule functions in optim/schedule.hpp.
std::set<std::string> optimizer_classes();
std::set<std::string> schedule_functions();

}  // namespace xtape::test

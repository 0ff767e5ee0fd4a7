// What the sources say exists: op names, public functions, layers, optimizers, schedules, and which tests carry the
// number of a numerical case.
#pragma once

#include <map>
#include <set>
#include <string>

namespace xtape::test {

/// Names under which ops are recorded: the string literals that core/ops hands to Tape::record, or to a function there
/// that records under a name it is given. Throws if a call names its op in a way that cannot be followed.
std::set<std::string> recorded_op_names();

/// Public functions of core/ops that return tensors.
std::set<std::string> op_functions();

/// Classes of nn/ and models/ that are built from a Scope.
std::set<std::string> layer_classes();

/// Classes of optim/ that are built from parameter groups, and functions of the step in optim/schedule.hpp.
std::set<std::string> optimizer_classes();
std::set<std::string> schedule_functions();

/// Number of a numerical case ("O-13") -> the text of the tests that carry it: beside a test's name for that test,
/// above the first one for the whole file.
std::map<std::string, std::string> numerical_case_tests();

}  // namespace xtape::test

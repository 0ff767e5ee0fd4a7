// Lists the gradient checks and golden values of every op, layer, optimizer and schedule, and fails if one is missing.
// A ctest test of its own (ctest -R coverage -V prints the table), skipped in the ordinary run.
#include "core/gradients/cases.hpp"
#include "golden/tables.hpp"
#include "nn/layer_gradcheck.hpp"
#include "sources.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#ifdef XTAPE_DOUBLE
namespace xtape::test {

namespace {

/// Number of checks and their largest error.
struct Proof {
  int cases = 0;
  double worst = 0;

  void add(double error) {
    ++cases;
    worst = std::max(worst, error);
  }
  std::string text() const {
    if (cases == 0) return "-";
    char out[40];
    std::snprintf(out, sizeof out, "%d, %.0e", cases, worst);
    return out;
  }
};

struct Proofs {
  std::map<std::string, Proof> gradcheck, golden;
  std::map<std::string, std::set<std::string>> recorded;  // by subject: the ops that its golden cases record
  std::map<std::string, Proof> recording;                 // by op: the golden cases that record it
};

std::set<std::string> ops_of(const GradCase& entry) {
  Tape tape;
  std::vector<Tensor> inputs;
  for (const Array& input : entry.inputs) inputs.push_back(tape.variable(input));
  const Tensor y = entry.function(inputs);
  const auto ops = tape.ops();
  return {ops.begin(), ops.end()};
}

Proofs measure() {
  Proofs out;
  for (const GradCase& entry : all_grad_cases()) {
    INFO(entry.op, " / ", entry.title, " does not record the op that it is named after");
    CHECK(ops_of(entry).contains(entry.op));
    out.gradcheck[entry.op].add(gradcheck(entry.function, entry.inputs).worst);
  }
  for (const LayerCase& entry : layer_grad_cases()) out.gradcheck[entry.layer].add(layer_gradcheck(entry).worst);
  for (const GoldenCase& entry : all_golden_cases()) {
    const GoldenResult result = run_golden(entry);
    out.golden[subject_of(entry.name)].add(result.worst);
    out.recorded[subject_of(entry.name)].insert(result.ops.begin(), result.ops.end());
    for (const std::string& op : std::set<std::string>(result.ops.begin(), result.ops.end()))
      out.recording[op].add(result.worst);
  }
  for (const auto& errors : {optimizer_golden_errors, schedule_golden_errors, training_golden_errors})
    for (const auto& [name, error] : errors()) out.golden[subject_of(name)].add(error);
  return out;
}

/// What a subject must have in addition to a golden value: nothing, a gradient check of the ops that it is composed of,
/// or a gradient check of its own.
enum class Need { nothing, gradcheck_of_parts, gradcheck };

class Table {
 public:
  explicit Table(const Proofs& proofs) : proofs_(proofs) {}

  /// Prints a heading and one line per subject, and checks each subject.
  void section(const char* title, const std::set<std::string>& subjects, Need need) {
    std::printf("\n%-30s %-24s %s\n", title, need == Need::nothing ? "" : "gradient check", "golden");
    for (const std::string& subject : subjects) line(subject, need);
  }

 private:
  void line(const std::string& subject, Need need) {
    // An op without a function of its name (one form of a loss) is checked by the golden cases that record it.
    const bool named = op_functions().contains(subject) || need != Need::gradcheck_of_parts;
    const Proof golden = find(named ? proofs_.golden : proofs_.recording, subject);
    const Proof own = find(proofs_.gradcheck, subject);
    const std::string gradient = need == Need::nothing                                ? ""
                                 : own.cases == 0 && need == Need::gradcheck_of_parts ? parts_text(subject)
                                                                                      : own.text();
    std::printf("%-30s %-24s %s\n", subject.c_str(), gradient.c_str(), golden.text().c_str());
    CHECK_MESSAGE(golden.cases > 0, subject, " has no golden value");
    CHECK_MESSAGE(gradient != "-", subject, " has no gradient check");
  }

  static Proof find(const std::map<std::string, Proof>& in, const std::string& subject) {
    const auto found = in.find(subject);
    return found == in.end() ? Proof{} : found->second;
  }

  /// The gradient-checked ops that a function without a backward function of its own is composed of; "-" if one of them
  /// has no gradient check.
  std::string parts_text(const std::string& subject) const {
    std::string made_of;
    const auto parts = proofs_.recorded.find(subject);
    if (parts == proofs_.recorded.end()) return "-";
    for (const std::string& op : parts->second) {
      if (op == subject) return "-";
      if (op == "variable" || op == "parameter") continue;
      if (find(proofs_.gradcheck, op).cases == 0) return "-";
      made_of += (made_of.empty() ? "by " : ", ") + op;
    }
    return made_of.empty() ? "-" : made_of;
  }

  const Proofs& proofs_;
};

std::set<std::string> united(std::set<std::string> a, const std::set<std::string>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

void check_recorded(const Proofs& proofs, const std::set<std::string>& ops) {
  for (const std::string& op : ops) {
    const auto found = proofs.recorded.find(op);
    const bool recorded = op_functions().contains(op) ? found != proofs.recorded.end() && found->second.contains(op)
                                                      : proofs.recording.contains(op);
    CHECK_MESSAGE(recorded, op, ": none of its golden cases records it");
  }
  for (const auto& [subject, recorded] : proofs.recorded)
    for (const std::string& op : recorded)
      CHECK_MESSAGE((ops.contains(op) || op == "variable" || op == "parameter"), op,
                    " is recorded, but not found in the sources of core/ops");
}

}  // namespace

TEST_CASE("coverage: every op, layer and optimizer has a gradient check and a golden value" * doctest::skip()) {
  const Proofs proofs = measure();
  const std::set<std::string> ops = recorded_op_names();
  Table table(proofs);
  table.section("op (cases, worst error)", united(op_functions(), ops), Need::gradcheck_of_parts);
  table.section("layer", layer_classes(), Need::gradcheck);
  table.section("optimizer", optimizer_classes(), Need::nothing);
  table.section("schedule", schedule_functions(), Need::nothing);
  check_recorded(proofs, ops);
  double gradcheck = 0, golden = 0;
  for (const auto& [subject, proof] : proofs.gradcheck) gradcheck = std::max(gradcheck, proof.worst);
  for (const auto& [subject, proof] : proofs.golden) golden = std::max(golden, proof.worst);
  std::printf("\nlargest gradient-check error %.1e, largest golden error %.1e\n", gradcheck, golden);
}

}  // namespace xtape::test
#endif

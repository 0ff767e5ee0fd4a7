#include <xtape/inspect/verdicts/diagnosis.hpp>

namespace xtape {

Diagnosis diagnose(const RunData& run) {
  Diagnosis out;
  for (Verdict& verdict : judge(run)) {
    if (verdict.finding != Finding::bad && verdict.finding != Finding::warning) continue;
    if (out.cause) out.consequences.push_back(std::move(verdict));
    else out.cause = std::move(verdict);
  }
  return out;
}

}  // namespace xtape

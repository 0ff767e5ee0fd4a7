#include <xtape/core/number_text.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <algorithm>

namespace xtape {

std::string format_3g(double x) { return number_text(x, "%.3g"); }

const char* finding_name(Finding finding) {
  switch (finding) {
    case Finding::bad:
      return "bad";
    case Finding::warning:
      return "warning";
    case Finding::fine:
      return "fine";
    case Finding::unmeasured:
      break;
  }
  return "unmeasured";
}

std::vector<Verdict> judge(const RunData& run) {
  std::vector<Verdict> out;
  for (const auto group : {judge_training, judge_time, judge_depth, judge_units, judge_updates}) {
    std::vector<Verdict> some = group(run);
    out.insert(out.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  std::stable_sort(out.begin(), out.end(), [](const Verdict& a, const Verdict& b) { return a.finding < b.finding; });
  return out;
}

bool diverged(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) {
    return v.finding == Finding::bad && (v.id == "finite" || v.id == "diverged");
  });
}

}  // namespace xtape

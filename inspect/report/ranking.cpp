#include <xtape/inspect/report/ranking.hpp>

#include <algorithm>
#include <set>

namespace xtape {

namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : between) + text;
  return out;
}

/// The options of the programs that say what is learned.
bool names_data(const std::string& option) {
  static const std::set<std::string> names = {"data",       "text",   "task",  "lexicon",
                                              "references", "digits", "mnist", "column"};
  return names.contains(option);
}

bool validated(const Comparison& c) {
  return std::any_of(c.groups.begin(), c.groups.end(),
                     [](const RunGroup& g) { return spread_of(g, last_validation).has_value(); });
}

std::string range_text(const RunGroup& group, const Spread& spread) {
  return group.label + ": " + plain(spread.low) + " to " + plain(spread.high);
}

std::string difference_sentence(const RunGroup& best, const Spread& a, const RunGroup& next, const Spread& b) {
  const std::optional<bool> within = within_spread(a, b);
  if (!within) return "With one seed each it is not known what the seed alone changes. ";
  const std::string ranges = " (" + range_text(best, a) + "; " + range_text(next, b) + "). ";
  return (*within ? "The difference is within the spread of the seeds" : "The seeds do not overlap") + ranges;
}

/// "; X is in trouble." about the groups besides the best.
std::string troubles(const Comparison& c, const RunGroup& best) {
  std::vector<std::string> broken;
  for (const RunGroup& group : c.groups)
    if (&group != &best && verdict_of(group).finding == Finding::bad) broken.push_back(group.label);
  if (broken.empty()) return ".";
  if (broken.size() == 1) return "; " + broken.front() + " is in trouble.";
  return "; " + std::to_string(broken.size()) + " others are in trouble.";
}

std::string unranked_sentence(const Comparison& c) {
  std::vector<std::string> out;
  for (const RunGroup& group : c.groups)
    if (!all_finished(group)) out.push_back(group.label + " (" + states_of(group) + ")");
  return out.empty() ? "" : "Without a place, because not finished: " + listed(out, ", ") + ". ";
}

}  // namespace

std::vector<std::string> obstacles_of(const Comparison& comparison) {
  std::set<index_t> classes;
  for (const ComparedRun& run : comparison.runs)
    for (const StepRecord& step : run.run.steps)
      if (step.classes) {
        classes.insert(*step.classes);
        break;
      }
  std::vector<std::string> out, counts;
  for (const index_t count : classes) counts.push_back(std::to_string(count));
  if (classes.size() > 1) out.push_back("they have " + listed(counts, " and ") + " classes");
  for (const std::string& setting : comparison.settings)
    if (names_data(setting)) out.push_back("the option " + setting + " differs");
  return out;
}

std::vector<const RunGroup*> by_loss(const Comparison& comparison) {
  const auto loss = validated(comparison) ? last_validation : late_loss;
  std::vector<const RunGroup*> out;
  for (const RunGroup& group : comparison.groups)
    if (all_finished(group) && spread_of(group, loss)) out.push_back(&group);
  std::stable_sort(out.begin(), out.end(), [&](const RunGroup* a, const RunGroup* b) {
    return spread_of(*a, loss)->median < spread_of(*b, loss)->median;
  });
  return out;
}

std::optional<bool> within_spread(const Spread& a, const Spread& b) {
  if (a.count < 2 && b.count < 2) return std::nullopt;
  return a.low <= b.high && b.low <= a.high;
}

Headline ranking_headline(const Comparison& c) {
  const std::string differ =
      c.settings.empty() ? "All settings are the same."
                         : counted(c.settings.size(), "setting") + (c.settings.size() == 1 ? " differs." : " differ.");
  const std::string unranked = unranked_sentence(c);
  if (const std::vector<std::string> obstacles = obstacles_of(c); !obstacles.empty())
    return {"The losses of these runs cannot be compared.",
            "There is no best one: " + listed(obstacles, "; ") + ". " + unranked + differ};
  const std::vector<const RunGroup*> order = by_loss(c);
  if (order.size() < 2) return {counted(c.runs.size(), "run") + " side by side.", unranked + differ};
  const RunGroup &best = *order[0], &next = *order[1];
  const auto loss = [of_validation = validated(c)](const RunGroup& g) {
    return *spread_of(g, of_validation ? last_validation : late_loss);
  };
  const Spread a = loss(best), b = loss(next);
  std::string title = best.label;
  if (verdict_of(best).finding == Finding::bad) title += " has the lowest loss, but is in trouble";
  else title += within_spread(a, b).value_or(false) ? " is first, but not for sure" : " is best";
  return {title + troubles(c, best), std::string(validated(c) ? "Validation" : "Training") + " loss " +
                                         plain(a.median) + " against " + plain(b.median) + " of " + next.label +
                                         ", the next. " + difference_sentence(best, a, next, b) + unranked + differ};
}

}  // namespace xtape

// The comparison page: headline, table, settings that differ.
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/html_page.hpp>
#include <xtape/inspect/report/ranking.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/report/verdicts_html.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace xtape {

namespace {

std::string count_text(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string shown(double value, bool share) { return share ? percent_text(value) : plain(value); }

std::string cell(const std::optional<Spread>& s, bool share) {
  if (!s) return "<td>–</td>";
  std::string out = "<td>" + shown(s->median, share);
  if (shown(s->low, share) != shown(s->high, share))
    out += "<br><span class=\"spread\">" + shown(s->low, share) + " to " + shown(s->high, share) + "</span>";
  return out + "</td>";
}

/// A row of the table. The check box selects its curves.
std::string row(const RunGroup& group, std::size_t index, const std::vector<CompareColumn>& columns, bool seeds,
                bool states) {
  const GroupVerdict verdict = verdict_of(group);
  std::string out = "<tr><td><label><input type=\"checkbox\" data-group=\"" + std::to_string(index) + "\" hidden>" +
                    html_escaped(readable(group.label)) + "</label></td><td class=\"" + finding_name(verdict.finding) +
                    "\">" + finding_icon(verdict.finding) + html_escaped(verdict.text) + "</td>";
  if (states) out += "<td>" + states_of(group) + "</td>";
  if (seeds) out += "<td>" + std::to_string(group.runs.size()) + "</td>";
  for (const CompareColumn& column : columns) out += cell(spread_of(group, column.number), column.share);
  return out + "</tr>\n";
}

std::string table(const Comparison& c) {
  const std::vector<CompareColumn> columns = columns_of(c);
  const bool seeds = std::any_of(c.groups.begin(), c.groups.end(), [](const RunGroup& g) { return g.runs.size() > 1; });
  const bool states = !std::all_of(c.groups.begin(), c.groups.end(), all_finished);
  std::string out =
      "<h2 id=\"summary\">Summary</h2>\n<p class=\"says\">" +
      std::string(seeds ? "Median of the seeds, and below it the least and the greatest." : "One run a row.") +
      " The boxes choose whose curves are drawn, six at most.</p>\n"
      "<div class=\"sideways\"><table class=\"runs\"><thead><tr><th>Runs</th><th>Verdict</th>" +
      std::string(states ? "<th>State</th>" : "") + std::string(seeds ? "<th>Seeds</th>" : "");
  for (const CompareColumn& column : columns)
    out += "<th title=\"" + html_escaped(column.explained) + "\">" + html_escaped(column.name) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < c.groups.size(); ++i) out += row(c.groups[i], i, columns, seeds, states);
  return out + "</tbody></table></div>\n";
}

/// The most frequent value.
std::string usual_value(const Comparison& c, std::size_t setting) {
  std::map<std::string, std::size_t> counts;
  for (const RunGroup& group : c.groups) ++counts[group.values[setting]];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// One row for each setting if the groups fit side by side, else one row for each group. Unusual values are bold.
std::string differences(const Comparison& c) {
  std::string out = "<h2 id=\"differences\">Differences</h2>\n";
  if (c.settings.empty()) return out + "<p class=\"says\">All settings are the same.</p>\n";
  constexpr std::size_t kBesideEachOther = 6;
  const bool beside = c.groups.size() <= kBesideEachOther;
  const auto value = [&](const RunGroup& group, std::size_t s) {
    const std::string text = html_escaped(readable(group.values[s].empty() ? "–" : group.values[s]));
    return "<td>" + (group.values[s] == usual_value(c, s) ? text : "<b>" + text + "</b>") + "</td>";
  };
  std::string head, body;
  if (beside) {
    for (const RunGroup& group : c.groups) head += "<th>" + html_escaped(readable(group.label)) + "</th>";
    for (std::size_t s = 0; s < c.settings.size(); ++s) {
      body += "<tr><td>" + html_escaped(c.settings[s]) + "</td>";
      for (const RunGroup& group : c.groups) body += value(group, s);
      body += "</tr>\n";
    }
  } else {
    for (const std::string& name : c.settings) head += "<th>" + html_escaped(name) + "</th>";
    for (const RunGroup& group : c.groups) {
      body += "<tr><td>" + html_escaped(readable(group.label)) + "</td>";
      for (std::size_t s = 0; s < c.settings.size(); ++s) body += value(group, s);
      body += "</tr>\n";
    }
  }
  return out +
         "<p class=\"says\">All other settings are the same, but for seeds and where and how often was logged.</p>\n"
         "<div class=\"sideways\"><table class=\"runs differ\"><thead><tr><th>" +
         (beside ? "Setting" : "Runs") + "</th>" + head + "</tr></thead><tbody>\n" + body + "</tbody></table></div>\n";
}

}  // namespace

std::string compare_page(const Comparison& c) {
  const Headline head = ranking_headline(c);
  PageParts parts{.title = "Comparison of " + count_text(c.runs.size(), "run")};
  parts.facts = "<b>compare</b> <span>" + count_text(c.runs.size(), "run") + "</span> <span>" +
                count_text(c.groups.size(), "group") + "</span>";
  parts.headline = html_escaped(readable(head.title));
  parts.lede = html_escaped(readable(head.lede));
  parts.before_charts = table(c);
  parts.after_charts = differences(c);
  std::string list;
  for (const ComparedRun& run : c.runs) list += (list.empty() ? "" : ", ") + html_escaped(run.run.directory);
  parts.footer = "<span id=\"buckets\"></span> Runs: " + list + ". Written by xtape " +
                 html_escaped(c.runs.front().run.version) +
                 ", with Chart.js 3.9.1 (MIT). This file loads nothing from the network.";
  parts.data = compare_json(c);
  return html_page(parts);
}

}  // namespace xtape

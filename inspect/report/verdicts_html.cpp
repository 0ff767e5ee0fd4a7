#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/report/verdicts_html.hpp>

namespace xtape {

namespace {

/// Capitalizes the first word unless it is a name.
std::string sentence(std::string text) {
  const std::string word = text.substr(0, text.find(' '));
  if (word.find_first_of("._:0123456789") == word.npos && !text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

std::string row(const Verdict& v) {
  std::string text = "<b>" + html_with_steps(v.answer) + "</b> " + html_with_steps(sentence(v.evidence));
  if (v.finding < Finding::fine) text += " " + html_with_steps(v.remedy);
  return "<li class=\"" + std::string(finding_name(v.finding)) + "\">" + finding_icon(v.finding) +
         "<span class=\"name\">" + html_escaped(verdict_title(v.id)) + "</span><span class=\"evidence\">" + text +
         "</span></li>\n";
}

std::string list(const std::vector<Verdict>& verdicts, bool fine) {
  std::string rows;
  for (const Verdict& v : verdicts)
    if (v.finding != Finding::unmeasured && (v.finding == Finding::fine) == fine) rows += row(v);
  return rows.empty() ? "" : "<ul class=\"verdicts" + std::string(fine ? " short" : "") + "\">\n" + rows + "</ul>\n";
}

}  // namespace

std::string finding_icon(Finding finding) {
  const auto svg = [&](const std::string& word, const std::string& shapes) {
    return "<svg class=\"icon\" viewBox=\"0 0 16 16\" role=\"img\" aria-label=\"" + word + "\">" + shapes + "</svg>";
  };
  switch (finding) {
    case Finding::bad:
      return svg("problem",
                 "<rect x=\"1.5\" y=\"1.5\" width=\"13\" height=\"13\" rx=\"2\" class=\"solid\"/>"
                 "<path d=\"M5 5l6 6M11 5l-6 6\" class=\"on-solid\"/>");
    case Finding::warning:
      return svg("warning", "<path d=\"M8 2L15 14H1z\"/><path d=\"M8 6.5v3.6M8 12v.2\"/>");
    case Finding::fine:
      return svg("fine", "<circle cx=\"8\" cy=\"8\" r=\"6.5\"/><path d=\"M5 8.3l2.2 2.2L11.2 6\"/>");
    case Finding::unmeasured:
      break;
  }
  return svg("not measured", "<path d=\"M4 8h8\"/>");
}

std::string verdicts_html(const std::vector<Verdict>& verdicts) {
  std::string missing;
  for (const Verdict& v : verdicts)
    if (v.finding == Finding::unmeasured)
      missing +=
          (missing.empty() ? "" : "; ") + html_escaped(verdict_title(v.id)) + " (" + html_escaped(v.evidence) + ")";
  std::string out = list(verdicts, false) + list(verdicts, true);
  if (!missing.empty()) out += "<p class=\"missing quiet\">– Not measured: " + missing + ".</p>\n";
  return out;
}

}  // namespace xtape

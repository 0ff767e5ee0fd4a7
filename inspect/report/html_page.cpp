#include <xtape/inspect/report/html_page.hpp>
#include <xtape/inspect/report/page_texts.hpp>
#include <xtape/inspect/report/text_format.hpp>

#include <map>

namespace xtape {

namespace {

/// Replaces each {{name}} in the frame. The inserted text is not searched again.
std::string filled(std::string_view frame, const std::map<std::string_view, std::string_view>& values) {
  std::string out;
  for (std::size_t i = 0; i < frame.size();) {
    const std::size_t begin = frame.find("{{", i), end = frame.find("}}", begin);
    if (begin == frame.npos || end == frame.npos) return out + std::string(frame.substr(i));
    out += frame.substr(i, begin - i);
    out += values.at(frame.substr(begin + 2, end - begin - 2));
    i = end + 2;
  }
  return out;
}

/// Escapes JSON so that it contains no tag and no JavaScript line separator.
std::string script_safe(const std::string& json) {
  std::string out;
  for (char c : json) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

}  // namespace

std::string html_page(const PageParts& p) {
  const std::string title = html_escaped(p.title), data = script_safe(p.data);
  return filled(page_texts::frame, {{"title", title},
                                    {"style", page_texts::style},
                                    {"facts", p.facts},
                                    {"headline", p.headline},
                                    {"lede", p.lede},
                                    {"before", p.before_charts},
                                    {"after", p.after_charts},
                                    {"footer", p.footer},
                                    {"data", data},
                                    {"chart_js", page_texts::chart_js},
                                    {"script", page_texts::script}});
}

}  // namespace xtape

#include <xtape/core/number_text.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>

namespace xtape {

namespace {

constexpr const char* kNarrowSpace = "\u202f";
constexpr const char* kFixedSpace = "\u00a0";

bool digit(const std::string& text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
}

std::string superscript(const std::string& exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  std::size_t i = 0;
  if (exponent[0] == '-') out += "⁻";
  while (i < exponent.size() && (exponent[i] == '-' || exponent[i] == '+')) ++i;
  while (i + 1 < exponent.size() && exponent[i] == '0') ++i;
  for (; i < exponent.size(); ++i) out += digits[exponent[i] - '0'];
  return out;
}

/// The length of an exponent such as "e-05" that begins at a position after a digit, or 0.
std::size_t exponent_at(const std::string& text, std::size_t at) {
  if (at == 0 || text[at] != 'e' || !digit(text, at - 1)) return 0;
  std::size_t end = at + 1;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  else return 0;
  if (!digit(text, end)) return 0;
  while (digit(text, end)) ++end;
  return end - at;
}

}  // namespace

std::string readable(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t length = exponent_at(text, i)) {
      if (out.ends_with("1") && (out.size() == 1 || !(digit(out, out.size() - 2) || out[out.size() - 2] == '.')))
        out.replace(out.size() - 1, 1, "10");  // 1e-3 is 10^-3
      else out += "·10";
      out += superscript(text.substr(i + 1, length - 1));
      i += length - 1;
    } else if (text[i] == ' ' && i + 1 < text.size() && text[i + 1] == '%') {
      out += kFixedSpace;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string plain(double value) {
  if (std::abs(value) >= 1000 && std::abs(value) < 1e6) return grouped_digits(std::llround(value));
  return readable(number_text(value, "%.3g"));
}

std::string percent_text(double share) { return plain(100 * share) + kFixedSpace + "%"; }

std::string grouped_digits(index_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3 + (number < 0 ? 1u : 0u); end -= 3)
    digits.insert(end - 3, kNarrowSpace);
  return digits;
}

std::string duration_words(double seconds) {
  if (seconds < 100) return number_text(std::round(seconds), "%.0f") + " s";
  if (seconds < 6000) return number_text(std::round(seconds / 60), "%.0f") + " min";
  const auto minutes = static_cast<long long>(seconds / 60);
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string html_escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string html_with_steps(const std::string& text) {
  static const std::string word = "step ";
  const std::string safe = html_escaped(readable(text));
  std::string out;
  for (std::size_t i = 0; i < safe.size();) {
    std::size_t end = i + word.size();
    while (digit(safe, end)) ++end;
    const std::size_t digits = end - i - word.size();
    if (safe.compare(i, word.size(), word) != 0 || digits == 0 || digits > 15) {
      out += safe[i++];
      continue;
    }
    const std::string step = safe.substr(i + word.size(), digits);
    out += "<a href=\"#step=" + step + "\">step" + kFixedSpace + grouped_digits(std::stoll(step)) + "</a>";
    i = end;
  }
  return out;
}

std::string verdict_title(const std::string& id) {
  static const std::map<std::string, std::string> titles = {{"finite", "Not finite"},
                                                            {"diverged", "Divergence"},
                                                            {"spikes", "Spikes"},
                                                            {"learning", "Learning"},
                                                            {"untrained_loss", "Untrained loss"},
                                                            {"vanishing_time", "Vanishing in time"},
                                                            {"exploding_time", "Exploding in time"},
                                                            {"vanishing_depth", "Vanishing in depth"},
                                                            {"exploding_depth", "Exploding in depth"},
                                                            {"growth", "Growth"},
                                                            {"dead_units", "Dead units"},
                                                            {"saturated_units", "Saturation"},
                                                            {"clipping", "Clipping"},
                                                            {"update_ratio", "Update size"},
                                                            {"still_layers", "Still layers"}};
  const auto found = titles.find(id);
  return found == titles.end() ? id : found->second;
}

std::string run_name(const RunData& run) {
  std::filesystem::path path = std::filesystem::path(run.directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  if (!name.empty() && name != "." && name != "..") return name;
  return std::filesystem::canonical(run.directory).filename().string();
}

Headline headline(const RunData& run, const std::vector<Verdict>& verdicts) {
  if (run.steps.empty()) return {"Nothing is logged yet.", "The page fills with the first logged step."};
  const auto problems =
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.finding < Finding::fine; });
  if (problems > 0) {
    const Verdict& worst = verdicts.front();
    std::string lede = worst.evidence + ".";
    if (problems > 1) lede += " " + verdicts[1].answer;
    return {worst.answer, lede};
  }
  const auto loss = [](const StepRecord& s) { return s.loss; };
  const std::vector<double> losses = series(run, loss);
  std::string lede;
  if (const auto first = finite_median(first_tenth(losses)), last = finite_median(last_tenth(losses)); first && last)
    lede = "The loss goes from " + number_text(*first, "%.3g") + " to " + number_text(*last, "%.3g") + ". ";
  return {"Nothing is wrong in what was measured.", lede + "All limits and numbers stand below."};
}

}  // namespace xtape

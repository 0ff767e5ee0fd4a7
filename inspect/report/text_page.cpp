#include <xtape/core/number_text.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/inspect/report/text_page.hpp>
#include <xtape/inspect/run/layer_names.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownLayers = 24;
constexpr std::size_t kBars = 20;

std::string number(double x) { return number_text(x, "%.4g"); }

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t now = text_width(text);
  return text + std::string(now < width ? width - now : 0, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

/// Shortens a name from the left; the layer's own part comes last.
std::string shortened(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : ".." + name.substr(name.size() - width + 2);
}

/// Appends a text with line breaks at the width, each line indented by `indent`.
void wrap(std::string& out, const std::string& text, std::size_t indent, std::size_t columns) {
  std::size_t column = 0;
  for (const std::string_view word : words_between_spaces(text)) {
    const std::size_t width = text_width(std::string(word));
    if (column > 0 && column + 1 + width > columns) {
      out += '\n';
      column = 0;
    }
    const std::string gap = column == 0 ? std::string(indent, ' ') : " ";
    (out += gap) += word;
    column += gap.size() + width;
  }
  out += '\n';
}

struct Mark {
  const char* sign;
  const char* color;
};

Mark mark(Finding finding) {
  switch (finding) {
    case Finding::bad:
      return {"✗", "31"};
    case Finding::warning:
      return {"!", "33"};
    case Finding::fine:
      return {"✓", "32"};
    case Finding::unmeasured:
      break;
  }
  return {"-", "90"};
}

std::string state_text(const RunData& run) {
  return run.status.text + (run.steps.empty() ? ", nothing logged yet" : "");
}

std::string duration_text(double seconds) {
  const auto all = static_cast<long long>(seconds);
  char text[40];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  return text;
}

std::string summary(const RunData& run, std::size_t columns) {
  std::string out;
  std::string first = (run.program.empty() ? "a run" : run.program) + " in " + run.directory + ": " + state_text(run);
  if (!run.steps.empty()) {
    const index_t steps = run.steps.back().step + 1;
    first += ", " + std::to_string(steps);
    if (run.planned_steps >= steps) first += " of " + std::to_string(run.planned_steps);  // not if resumed with fewer
    first += " steps in " + duration_text(run.steps.back().wall.seconds);
  }
  wrap(out, first, 0, columns);
  std::string second;
  if (!run.dtype.empty())
    second = std::to_string(run.parameters) + " parameters in " + run.dtype + ", seed " + std::to_string(run.seed) +
             ", " + run.isa + " kernels, " + std::to_string(run.threads) + " threads, version " + run.version +
             ", started " + run.started;
  wrap(out, second, 0, columns);
  for (const std::string& warning : run.warnings) wrap(out, "warning: " + warning, 0, columns);
  return out;
}

/// One line: name, first, median and last value, and a sparkline.
std::string row(const std::string& name, const std::vector<double>& values, std::size_t width) {
  return padded(shortened(name, width), width) + right(number(values.front()), 11) +
         right(number(finite_median(values).value_or(NAN)), 11) + right(number(values.back()), 11) + "  " +
         sparkline(values, kBars) + "\n";
}

std::string heading(const std::string& title, std::size_t width) {
  return "\n" + padded(shortened(title, width), width) + right("first", 11) + right("median", 11) + right("last", 11) +
         "  course\n";
}

std::string course(const RunData& run, std::size_t width) {
  std::string out = heading("run", width);
  if (!run.only_norms) {
    out += row("loss", series(run, [](const StepRecord& s) { return s.loss; }), width);
    std::vector<double> validation;
    for (const StepRecord& s : run.steps)
      if (s.validation_loss) validation.push_back(*s.validation_loss);
    if (!validation.empty()) out += row("validation loss", validation, width);
    out += row("learning rate", series(run, [](const StepRecord& s) { return s.lr; }), width);
  }
  return out + row("gradient norm", series(run, [](const StepRecord& s) { return s.grad_norm; }), width);
}

/// The joint norm of each layer's parameters at each step.
std::vector<std::pair<std::string, std::vector<double>>> layer_norms(const RunData& run) {
  const std::vector<std::string> parameters = names_in(run, &StepRecord::parameters);
  const std::vector<std::string> layers = layer_names(parameters, kShownLayers);
  std::vector<std::pair<std::string, std::vector<double>>> out;
  std::map<std::string, std::size_t> place;
  for (const std::string& layer : layers)
    if (place.emplace(layer, out.size()).second) out.emplace_back(layer, std::vector<double>());
  for (const StepRecord& step : run.steps) {
    if (step.parameters.empty()) continue;
    for (auto& [layer, norms] : out) norms.push_back(0);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (const ParameterStats* p = named(step.parameters, parameters[i])) {
        double& norm = out[place.at(layers[i])].second.back();
        norm = std::hypot(norm, p->grad_norm);
      }
  }
  return out;
}

std::string output_norms(const RunData& run, std::size_t width) {
  std::string out;
  const std::vector<std::string> layers = layers_by_depth(run);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers.size() > kShownLayers && i % ((layers.size() + kShownLayers - 1) / kShownLayers) != 0) continue;
    std::vector<double> values;
    for (const StepRecord& step : run.steps)
      if (const LayerStats* layer = named(step.layers, layers[i]); layer && layer->output_grad_norm)
        values.push_back(*layer->output_grad_norm);
    out += row(layers[i], values, width);
  }
  return out.empty() ? out : heading("gradient of output", width) + out;
}

std::string lag_rows(const RunData& run, std::size_t width) {
  std::string out;
  for (const std::string& layer : names_in(run, &StepRecord::times)) {
    const std::optional<LagCurve> curve = lag_curve(run, layer);
    if (!curve) continue;
    const auto at = [&](std::size_t lag) { return curve->share[std::min(lag, curve->share.size() - 1)]; };
    out += padded(shortened(layer, width), width) + right(number(at(1)), 11) + right(number(at(20)), 11) +
           right(number(curve->share.back()), 11) + "  " + sparkline(curve->share, kBars) + "\n";
  }
  if (out.empty()) return out;
  return "\n" + padded("of the last step's", width) + right("1 back", 11) + right("20 back", 11) +
         right("all back", 11) + "  back in time\n" + out;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string sparkline(std::span<const double> values, std::size_t width) {
  static const char* const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(width, values.size());
  std::vector<double> tops;
  double least = INFINITY, greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double top = 0;
    for (std::size_t j = i * values.size() / count; j < (i + 1) * values.size() / count; ++j)
      if (!std::isfinite(values[j]) || std::isnan(top)) top = NAN;
      else top = std::max(top, values[j]);
    tops.push_back(top);
    if (top > 0) least = std::min(least, top), greatest = std::max(greatest, top);
  }
  const double spread = std::max(std::log(10.0), std::log(greatest / least));
  std::string out;
  for (double top : tops) {
    const double level = std::log(top / least) / spread * 7.999;
    out += std::isnan(top) ? "!" : top <= 0 ? "_" : bars[static_cast<std::size_t>(std::clamp(level, 0.0, 7.0))];
  }
  return out;
}

std::string run_page(const RunData& run, const std::vector<Verdict>& verdicts, const PageOptions& options) {
  const auto columns = static_cast<std::size_t>(std::max(options.columns, 60));
  std::string out = summary(run, columns) + "\n";
  for (const Verdict& v : verdicts) {
    const Mark m = mark(v.finding);
    std::string text;
    const bool problem = v.finding < Finding::fine;
    const std::string name = v.finding == Finding::unmeasured ? v.id + ": " : "";
    wrap(text, problem ? v.answer : name + v.answer.substr(0, v.answer.size() - 1) + ": " + v.evidence + ".", 2,
         columns);
    if (problem) wrap(text, v.evidence + ". " + v.remedy, 4, columns);
    text.replace(0, 2, std::string(m.sign) + " ");
    out += options.colors ? std::string("\033[") + m.color + "m" + text.substr(0, std::string(m.sign).size()) +
                                "\033[0m" + text.substr(std::string(m.sign).size())
                          : text;
  }
  if (run.steps.empty()) return out;
  const std::size_t width = columns - 3 * 11 - 2 - kBars;
  out += course(run, width);
  std::string rows;
  for (const auto& [layer, norms] : layer_norms(run)) rows += row(layer, norms, width);
  if (!rows.empty()) out += heading("gradient, pre-clip", width) + rows;
  return out + output_norms(run, width) + lag_rows(run, width);
}

std::string run_page_json(const RunData& run, const std::vector<Verdict>& verdicts) {
  Json json = {{"format_version", 1},
               {"directory", json_bytes<Json>(run.directory)},
               {"program", run.program},
               {"finished", run.finished()},
               {"state", state_name(run.status.state)},
               {"state_text", run.status.text},
               {"diverged", diverged(verdicts)},
               {"logged_steps", run.steps.size()},
               {"warnings", run.warnings},
               {"verdicts", Json::array()},
               {"layers", Json::object()}};
  if (!run.steps.empty()) {
    json["last_step"] = run.steps.back().step;
    json["loss"] = json_number<Json>(run.steps.back().loss);
    json["grad_norm_preclip"] = json_number<Json>(run.steps.back().grad_norm);
  }
  for (const Verdict& v : verdicts) {
    Json& out = json["verdicts"].emplace_back(Json{{"id", v.id},
                                                   {"finding", finding_name(v.finding)},
                                                   {"answer", v.answer},
                                                   {"evidence", v.evidence},
                                                   {"remedy", v.remedy}});
    if (v.step) out["step"] = *v.step;
    if (!v.layer.empty()) out["layer"] = v.layer;
  }
  for (const auto& [layer, norms] : layer_norms(run))
    json["layers"][layer] = {{"first", json_number<Json>(norms.front())},
                             {"median", json_number<Json>(finite_median(norms).value_or(NAN))},
                             {"last", json_number<Json>(norms.back())}};
  return json_text(json, 2) + "\n";
}

}  // namespace xtape

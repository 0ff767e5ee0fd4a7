// The report page: the part that is readable without scripts.
#include <xtape/inspect/report/html_page.hpp>
#include <xtape/inspect/report/report_page.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/report/verdicts_html.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

std::string fact(const std::string& text) { return text.empty() ? "" : "<span>" + html_escaped(text) + "</span> "; }

/// "2026-11-28T09:05:50Z" -> "2026-11-28, 09:05 UTC".
std::string day_and_time(const std::string& started) {
  return started.size() < 16 ? started : started.substr(0, 10) + ", " + started.substr(11, 5) + " UTC";
}

std::string facts(const RunData& run) {
  std::string out = "<b>" + html_escaped(run_name(run)) + "</b> " + fact(run.program);
  if (run.parameters > 0) out += fact(grouped_digits(run.parameters) + " parameters");
  if (!run.steps.empty()) {
    const index_t steps = run.steps.back().step + 1;
    const bool all = run.planned_steps == 0 || steps >= run.planned_steps;  // it may have been resumed with fewer
    out += fact(grouped_digits(steps) + (all ? "" : " of " + grouped_digits(run.planned_steps)) + " steps");
    if (const double seconds = run.steps.back().wall.seconds; seconds > 0)
      out += fact(
          duration_words(seconds) +
          (run.threads > 0 ? " on " + std::to_string(run.threads) + (run.threads == 1 ? " thread" : " threads") : ""));
  }
  return out + fact(day_and_time(run.started)) + fact(run.status.text);
}

std::string figure(const std::string& name, const std::string& value, const std::string& unit) {
  return "<div><dt>" + name + "</dt><dd><b>" + value + "</b> " + unit + "</dd></div>\n";
}

/// Median of the last tenth of the steps that have the number.
std::optional<double> late(const RunData& run, const std::function<std::optional<double>(const StepRecord&)>& number) {
  std::vector<double> values;
  for (const StepRecord& step : run.steps)
    if (const std::optional<double> value = number(step)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  return finite_median(last_tenth(values));
}

std::string value_or_dash(const std::optional<double>& value) { return value ? plain(*value) : "–"; }

/// Figures of the recurrent layer with the fastest decay; nothing without one.
std::string time_figures(const RunData& run) {
  std::optional<LagCurve> worst;
  for (const std::string& layer : names_in(run, &StepRecord::times))
    if (const std::optional<LagCurve> curve = lag_curve(run, layer); curve && (!worst || curve->rate < worst->rate))
      worst = curve;
  if (!worst) return "";
  const std::size_t lag = std::min(static_cast<std::size_t>(limits::kLag), worst->share.size() - 1);
  const auto gone = std::find_if(worst->share.begin(), worst->share.end(), [](double share) { return share < 0.01; });
  const bool reaches = gone == worst->share.end();
  const double half = worst->rate > 0 && worst->rate < 1 ? std::log(0.5) / std::log(worst->rate) : NAN;
  return figure("Lag " + std::to_string(lag) + " ÷ lag 0", plain(worst->share[lag]), "") +
         figure("Reach (1&nbsp;%)", (reaches ? "> " : "") + std::to_string(gone - worst->share.begin() - 1), "steps") +
         figure("Half-life", std::isfinite(half) ? plain(half) : "–", "steps");
}

std::string figures(const RunData& run) {
  if (run.steps.empty()) return "";
  const std::string time = time_figures(run);
  std::string out = "<dl class=\"figures\">\n";
  if (!run.only_norms) {
    out += figure("Training loss", value_or_dash(late(run, [](const StepRecord& s) { return std::optional(s.loss); })),
                  "last tenth");
    std::optional<double> validation;
    for (const StepRecord& s : run.steps)
      if (s.validation_loss) validation = s.validation_loss;
    out += figure("Validation loss", value_or_dash(validation), "last");
  }
  out += figure("Gradient norm",
                value_or_dash(late(run, [](const StepRecord& s) { return std::optional(s.grad_norm); })), "last tenth");
  out += time;
  if (time.empty()) {
    const Depth depth = depth_of(run);
    out += figure("Input ÷ output", value_or_dash(depth.share), depth.share ? "×" : "");
    index_t steps = 0, clipped = 0;
    for (const StepRecord& s : run.steps) steps += s.interval.steps, clipped += s.interval.clipped;
    out += figure("Steps clipped",
                  steps > 0 ? plain(100 * static_cast<double>(clipped) / static_cast<double>(steps)) : "–", "%");
    out += figure("Speed", value_or_dash(late(run, [](const StepRecord& s) { return s.wall.tokens_per_second; })),
                  "tokens/s");
  }
  return out + "</dl>\n";
}

std::string settings(const RunData& run) {
  std::string rows;
  const auto row = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      rows += "<div><dt>" + html_escaped(name) + "</dt><dd>" + html_escaped(readable(value)) + "</dd></div>\n";
  };
  for (const auto& [name, value] : run.options) row(name, value);
  row("parameters", run.parameters > 0 ? grouped_digits(run.parameters) : "");
  row("precision", run.dtype);
  row("kernels", run.isa);
  row("products", run.blas);
  row("compiler", run.compiler);
  row("processor", run.cpu);
  row("version", run.version);
  if (rows.empty()) return "";
  return "<h2 id=\"configuration\">Configuration</h2>\n<dl class=\"settings\">\n" + rows + "</dl>\n";
}

std::string warnings(const RunData& run) {
  std::string out;
  for (const std::string& text : run.warnings) out += "<p class=\"quiet\">Note: " + html_escaped(text) + ".</p>\n";
  return out;
}

}  // namespace

std::string report_page(const RunData& run, const std::vector<Verdict>& verdicts) {
  const Headline head = headline(run, verdicts);
  PageParts parts{.title = run_name(run) + ": report"};
  parts.facts = facts(run);
  parts.headline = html_escaped(readable(head.title));
  parts.lede = html_with_steps(head.lede);
  parts.before_charts = warnings(run) + verdicts_html(verdicts) + figures(run);
  parts.after_charts = settings(run);
  parts.footer = std::string("<span id=\"buckets\"></span> Raw values: <code>") + run_folder::kMetrics +
                 "</code>, <code>" + run_folder::kGradNorms + "</code>. Written by xtape " + html_escaped(run.version) +
                 ", with Chart.js 3.9.1 (MIT). This file loads nothing from the network.";
  parts.data = report_json(run, verdicts);
  return html_page(parts);
}

}  // namespace xtape

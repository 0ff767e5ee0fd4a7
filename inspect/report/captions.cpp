#include <xtape/inspect/report/captions.hpp>
#include <xtape/inspect/report/text_format.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

constexpr double kUniform = 0.95;  // share of the largest entropy

std::span<const double> row_of(const Envelope& bands, std::size_t row) {
  return std::span(bands.middle).subspan(row * bands.buckets, bands.buckets);
}

/// The rows with the smallest and the largest median in the last tenth.
struct Ends {
  std::string least, greatest;
  double low = INFINITY, high = -INFINITY;
};

Ends ends_of(const NamedEnvelope& bands,
             const std::function<std::optional<double>(const Envelope&, std::size_t)>& number) {
  Ends out;
  for (std::size_t r = 0; r < bands.names.size(); ++r) {
    const std::optional<double> value = number(bands.bands, r);
    if (!value) continue;
    if (*value < out.low) out.low = *value, out.least = bands.names[r];
    if (*value > out.high) out.high = *value, out.greatest = bands.names[r];
  }
  return out;
}

}  // namespace

std::optional<double> row_median(const Envelope& bands, std::size_t row) {
  if (bands.buckets == 0) return std::nullopt;
  return finite_median(row_of(bands, row));
}

std::optional<double> late_median(const Envelope& bands, std::size_t row) {
  if (bands.buckets == 0) return std::nullopt;
  return finite_median(last_tenth(row_of(bands, row)));
}

std::string loss_sentence(const RunData& run) {
  const std::vector<double> losses = series(run, [](const StepRecord& s) { return s.loss; });
  const auto first = finite_median(first_tenth(losses)), last = finite_median(last_tenth(losses));
  if (!first || !last) return "No finite loss was logged at one end of the run.";
  std::string text = "From " + plain(*first) + " in the first tenth of the run to " + plain(*last) + " in the last";
  for (auto s = run.steps.rbegin(); s != run.steps.rend(); ++s)
    if (s->validation_loss && std::isfinite(*s->validation_loss)) {
      const double gap = *s->validation_loss - *last;
      return text + "; validation ends at " + plain(*s->validation_loss) + ", " + plain(std::abs(gap)) +
             (gap >= 0 ? " above." : " below.");
    }
  return text + ".";
}

std::string norm_sentence(const RunData& run) {
  const std::vector<double> norms = series(run, [](const StepRecord& s) { return s.grad_norm; });
  const std::optional<double> middle = finite_median(norms);
  if (!middle) return "No finite norm was logged.";
  double greatest = 0;
  for (const StepRecord& s : run.steps)
    for (double norm : {s.grad_norm, s.interval.grad_norm_max})
      if (std::isfinite(norm)) greatest = std::max(greatest, norm);
  const std::size_t spikes = spike_steps(run).size();
  return "Median " + plain(*middle) + ", the largest step " + plain(greatest) + ". " +
         (spikes == 0   ? "No spike stands out."
          : spikes == 1 ? "One spike stands out."
                        : std::to_string(spikes) + " spikes stand out.");
}

std::string rows_sentence(const std::string& what, const NamedEnvelope& bands) {
  std::string text = what + ", output on top, input at the bottom.";
  const Ends ends = ends_of(bands, late_median);
  if (ends.least.empty() || bands.names.size() < 2) return text;
  return text + " At the end " + ends.least + " gets least, " + plain(ends.low) + ", and " + ends.greatest + " most, " +
         plain(ends.high) + ".";
}

std::string lags_sentence(const LagEnvelope& lags) {
  const std::optional<double> start = late_median(lags.bands, 0);
  const std::string text = "Norm of the last step's gradient at the hidden state, steps back in time. ";
  if (!start || !(*start > 0)) return text + "At lag 0 nothing is left at the end of the run.";
  for (std::size_t r = 1; r < lags.bands.rows; ++r) {
    const std::optional<double> value = late_median(lags.bands, r);
    if (value && *value < 0.01 * *start)
      return text + "At the end of the run less than " + percent_text(0.01) + " of lag 0 is left from lag " +
             std::to_string(lags.first[r]) + " on.";
  }
  const std::optional<double> rest = late_median(lags.bands, lags.bands.rows - 1);
  return text + "At the end of the run " + percent_text(rest.value_or(0) / *start) + " of lag 0 is left at lag " +
         std::to_string(lags.last.back()) + ".";
}

std::string ratio_sentence(const NamedEnvelope& ratios) {
  const Ends ends = ends_of(ratios, row_median);
  std::string text = "How far one step moves each part. Near 10⁻³ is usual.";
  if (ends.least.empty()) return text;
  return text + " In the median step " + plain(ends.low) + " (" + ends.least + ") to " + plain(ends.high) + " (" +
         ends.greatest + ").";
}

std::string growth_sentence(const NamedEnvelope& bands) {
  std::string most;
  double first = 0, last = 0, change = -1;
  for (std::size_t r = 0; r < bands.names.size(); ++r) {
    const auto row = row_of(bands.bands, r);
    const auto begin = std::find_if(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    const std::optional<double> end = late_median(bands.bands, r);
    if (begin == row.end() || !end || !(*begin > 0) || !(*end > 0)) continue;
    if (std::abs(std::log(*end / *begin)) <= change) continue;
    change = std::abs(std::log(*end / *begin));
    most = bands.names[r];
    first = *begin;
    last = *end;
  }
  if (most.empty()) return "No two values can be compared.";
  return most + " changes most: from " + plain(first) + " to " + plain(last) + ".";
}

std::string rate_sentence(const RunData& run) {
  const StepRecord* peak = &run.steps.front();
  for (const StepRecord& s : run.steps)
    if (s.lr > peak->lr) peak = &s;
  return "Highest at step " + grouped_digits(peak->step) + ", " + plain(peak->lr) + "; " + plain(run.steps.back().lr) +
         " at the end.";
}

std::string highest_sentence(const NamedEnvelope& shares) {
  const Ends ends = ends_of(shares, row_median);
  if (ends.greatest.empty()) return "";
  return "Highest in " + ends.greatest + ", " + percent_text(ends.high) + " in the median step.";
}

std::string attention_sentence(const AttentionMaps& maps, const NamedEnvelope& entropy) {
  std::size_t uniform = 0, heads = 0;
  if (maps.any()) {
    const std::vector<double> shares = entropy_shares(maps, maps.steps.back());
    heads = shares.size();
    uniform =
        static_cast<std::size_t>(std::count_if(shares.begin(), shares.end(), [](double x) { return x >= kUniform; }));
  } else {
    heads = entropy.names.size();
    for (std::size_t r = 0; r < entropy.names.size(); ++r)
      uniform += late_median(entropy.bands, r).value_or(0) >= kUniform;
  }
  std::string text;
  if (maps.any())
    text = "Rows are queries, columns are keys. The number is the mean entropy: 0 looks at one place, 1 at all alike. ";
  return text +
         (uniform == 0 ? "No head is nearly uniform"
                       : std::to_string(uniform) + " of " + std::to_string(heads) +
                             (uniform == 1 ? " head is" : " heads are") + " nearly uniform") +
         " at the end (" + plain(kUniform) + " or more).";
}

std::string verdict_sentence(const std::vector<Verdict>& verdicts, const std::string& id) {
  for (const Verdict& v : verdicts)
    if (v.id == id) return v.answer + " " + readable(v.evidence) + ".";
  return "";
}

}  // namespace xtape

#include <xtape/inspect/run/records.hpp>

#include <cmath>

namespace xtape {

namespace {

constexpr std::string_view kLag = "lag_", kGradNorm = "_grad_norm";

}  // namespace

Log2Histogram::Log2Histogram(int low, std::vector<index_t> counts) {
  if (!counts.empty()) bins_ = std::make_unique<Bins>(Bins{low, std::move(counts)});
}

Log2Histogram::Log2Histogram(const Log2Histogram& other) : Log2Histogram(other.low(), other.counts()) {}

const std::vector<index_t>& Log2Histogram::counts() const {
  static const std::vector<index_t> none;
  return bins_ ? bins_->counts : none;
}

std::vector<std::pair<std::string, const std::vector<double>*>> TimeStats::kinds() const {
  std::vector<std::pair<std::string, const std::vector<double>*>> out;
  for (const StreamNorms& s : by_time) out.emplace_back(s.name + std::string(kGradNorm), &s.norms);
  for (const StreamNorms& s : by_lag) out.emplace_back(std::string(kLag) + s.name + std::string(kGradNorm), &s.norms);
  return out;
}

std::vector<double>* TimeStats::norms_of(std::string_view kind) {
  if (!kind.ends_with(kGradNorm)) return nullptr;
  kind.remove_suffix(kGradNorm.size());
  const bool lag = kind.starts_with(kLag);
  return &find_or_add(lag ? by_lag : by_time, kind.substr(lag ? kLag.size() : 0)).norms;
}

std::vector<double> TimeStats::lag_norms() const {
  std::vector<double> out;
  for (const StreamNorms& s : by_lag) {
    if (out.size() < s.norms.size()) out.resize(s.norms.size());
    for (std::size_t lag = 0; lag < s.norms.size(); ++lag) out[lag] = std::hypot(out[lag], s.norms[lag]);
  }
  return out;
}

}  // namespace xtape

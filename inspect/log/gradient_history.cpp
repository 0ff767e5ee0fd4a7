#include <xtape/inspect/log/gradient_history.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr index_t kLooked = 8;    // elements of a row that are all 0 in a row without a gradient
constexpr index_t kSample = 512;  // a cosine of unrelated gradients is then 0 within 0.05 (one standard deviation)

std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::nullopt;
  long double ab = 0, aa = 0, bb = 0;  // squares of doubles may overflow
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double x = a[i], y = b[i];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  const auto out = static_cast<double>(ab / (std::sqrt(aa) * std::sqrt(bb)));
  return std::isfinite(out) ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<double> equal_rows(const Parameter& parameter) {
  const Array& value = parameter.value();
  if (parameter.shape().rank() < 2 || parameter.shape()[0] < 2) return std::nullopt;
  const index_t rows = parameter.shape()[0], width = numel(value) / rows;
  index_t equal = 0;
  for (const real* row = value.data() + width; row < value.data() + rows * width; row += width)
    equal += std::equal(row, row + width, row - width);
  return equal > 0 ? std::optional(static_cast<double>(equal) / static_cast<double>(rows - 1)) : std::nullopt;
}

GradientHistory::GradientHistory(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  index_t elements = 0;
  for (const Parameter& p : parameters_) elements += p.numel();
  // Odd, so that it does not walk down one column of a matrix.
  stride_ = std::max<index_t>(1, elements / kSample) | 1;
}

GradientSample GradientHistory::first() const {
  GradientSample out;
  for (const Parameter& p : parameters_) {
    if (p.shape().rank() < 2 || p.numel() == 0) continue;
    std::vector<index_t>& rows = out.untouched[p.name()];
    rows.resize(p.shape()[0]);
    std::iota(rows.begin(), rows.end(), 0);
  }
  return out;
}

std::optional<double> GradientHistory::add() {
  if (!state_) state_ = first();
  std::vector<double> sample;
  index_t offset = 0;  // of the next sampled element within the next parameter
  for (const Parameter& p : parameters_) {
    const real* grad = p.has_grad() ? p.grad().data() : nullptr;
    for (; offset < p.numel(); offset += stride_) sample.push_back(grad ? static_cast<double>(grad[offset]) : 0);
    offset -= p.numel();
    const auto rows = state_->untouched.find(p.name());
    if (!grad || rows == state_->untouched.end()) continue;
    const index_t width = p.numel() / p.shape()[0], looked = std::min(width, kLooked);
    std::erase_if(rows->second, [&](index_t row) {
      return std::any_of(grad + row * width, grad + row * width + looked, [](real x) { return x != 0; });
    });
    if (rows->second.empty()) state_->untouched.erase(rows);
  }
  const std::optional<double> out = cosine(sample, state_->last);
  state_->last = std::move(sample);
  return out;
}

void GradientHistory::restore(GradientSample state) {
  state_ = first();
  state_->last = std::move(state.last);
  for (auto& [name, rows] : state_->untouched)  // of a damaged state, only what names a row
    std::erase_if(rows, [&kept = state.untouched[name]](index_t row) {
      return !std::binary_search(kept.begin(), kept.end(), row);  // they are in order
    });
  std::erase_if(state_->untouched, [](const auto& entry) { return entry.second.empty(); });
}

double GradientHistory::untouched_rows(const Parameter& parameter) const {
  if (!state_) return 0;
  const auto rows = state_->untouched.find(parameter.name());
  if (rows == state_->untouched.end()) return 0;
  return static_cast<double>(rows->second.size()) / static_cast<double>(parameter.shape()[0]);
}

}  // namespace xtape::inline XTAPE_DTYPE

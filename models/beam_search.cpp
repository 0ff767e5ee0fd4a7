#include <xtape/core/error.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/core/ops/unary.hpp>
#include <xtape/models/beam_search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// A live sequence extended by one token.
struct Candidate {
  index_t row;  ///< the beam that it extends
  index_t token;
  double log_probability;
};

/// The search for one source.
class Search {
 public:
  explicit Search(const BeamSearchOptions& options) : options_(options) { live_.push_back({{}, 0, false}); }

  bool done() const { return live_.empty(); }

  /// Extends the beams by one token, given log_probabilities [beams, V]. Writes the new token of each beam to `tokens`
  /// [beams] and the beam that it extends to `rows` [beams].
  void advance(const real* log_probabilities, index_t vocab, index_t* tokens, index_t* rows) {
    std::vector<Hypothesis> next;
    const std::vector<Candidate> candidates = best_candidates(log_probabilities, vocab);
    for (index_t rank = 0; rank < std::ssize(candidates); ++rank) {
      const Candidate& c = candidates[rank];
      Hypothesis h = {live_[c.row].tokens, c.log_probability, c.token == options_.end};
      if (h.ended) {
        if (rank < options_.beams) finish(std::move(h));
        continue;
      }
      if (std::ssize(next) == options_.beams) continue;
      tokens[next.size()] = c.token;
      rows[next.size()] = c.row;
      h.tokens.push_back(c.token);
      next.push_back(std::move(h));
    }
    live_ = std::move(next);
    if (live_.empty()) return;
    if (std::ssize(live_.front().tokens) >= options_.longest) {
      for (Hypothesis& h : live_) finish(std::move(h));
      live_.clear();
    } else if (std::ssize(finished_) == options_.beams && (options_.beams == 1 || bound() <= score(finished_.back()))) {
      live_.clear();
    }
  }

  std::vector<Hypothesis> result() { return std::move(finished_); }

 private:
  /// The most likely extensions of the live sequences, in order. Twice the number of beams: even if the best half ends
  /// here, enough remain to continue. Those of probability 0 are left out.
  std::vector<Candidate> best_candidates(const real* log_probabilities, index_t vocab) const {
    std::vector<Candidate> out;
    for (index_t row = 0; row < std::ssize(live_); ++row) {
      const std::size_t before = out.size();
      for (index_t token = 0; token < vocab; ++token) {
        const auto added = static_cast<double>(log_probabilities[row * vocab + token]);
        if (added > -std::numeric_limits<double>::infinity())  // neither -inf nor NaN
          out.push_back({row, token, live_[row].log_probability + added});
      }
      if (out.size() == before)
        throw ValueError("beam_search", "no token has a probability after " + std::to_string(live_[row].tokens.size()) +
                                            " tokens: the largest of " + std::to_string(vocab) +
                                            " logits must be finite");
    }
    const index_t wanted = std::min(std::ssize(out), 2 * options_.beams);
    std::partial_sort(out.begin(), out.begin() + wanted, out.end(), [](const Candidate& a, const Candidate& b) {
      if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
      return std::pair(a.row, a.token) < std::pair(b.row, b.token);
    });
    out.resize(wanted);
    return out;
  }

  double score(double log_probability, index_t tokens) const {
    return log_probability / std::pow(static_cast<double>(tokens), options_.length_power);
  }
  double score(const Hypothesis& h) const { return score(h.log_probability, std::ssize(h.tokens) + (h.ended ? 1 : 0)); }

  /// No sequence that continues a live one has a larger score: its probability is at most that of the most likely live
  /// one, and its length, with the end token, is what makes the most of it.
  double bound() const {
    const index_t shortest = std::ssize(live_.front().tokens) + 1;
    return score(live_.front().log_probability, options_.length_power > 0 ? options_.longest : shortest);
  }

  /// Adds a sequence to the finished ones, of which the best `beams` are kept, in order.
  void finish(Hypothesis h) {
    const auto better = [&](double a, const Hypothesis& b) { return a > score(b); };
    finished_.insert(std::upper_bound(finished_.begin(), finished_.end(), score(h), better), std::move(h));
    if (std::ssize(finished_) > options_.beams) finished_.pop_back();
  }

  const BeamSearchOptions& options_;
  std::vector<Hypothesis> live_;      // of one length, the most likely first
  std::vector<Hypothesis> finished_;  // the best first
};

/// Log-softmax of logits in which NaN counts as minus infinity.
Tensor log_probabilities_of(const Tensor& logits) {
  Array numbers = logits.value();
  for (real& x : numbers)
    if (std::isnan(x)) x = -kInfinity;
  return log_softmax(Tensor(std::move(numbers)));
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(index_t sources, const BeamStep& step, const BeamSelect& select,
                                                 const BeamSearchOptions& options) {
  if (sources < 1 || options.beams < 1 || options.longest < 1)
    throw ValueError("beam_search", "sources, beams and longest of at least 1", sources, options.beams,
                     options.longest);
  if (!std::isfinite(options.length_power))
    throw ValueError("beam_search", "a finite length power", options.length_power);
  const index_t total = sources * options.beams;
  std::vector<Search> searches(sources, Search(options));
  auto tokens = full_array<IndexArray>({total, 1}, options.start), rows = empty_array<IndexArray>({total});
  const auto done = [](const Search& search) { return search.done(); };
  for (bool first = true; !std::all_of(searches.begin(), searches.end(), done); first = false) {
    if (!first && options.beams > 1) select(rows);
    const Tensor logits = step(tokens);
    if (logits.rank() != 3 || logits.size(0) != total || logits.size(1) != 1)
      throw ShapeError("beam_search", "logits [" + std::to_string(total) + ", 1, V]", logits.shape());
    const Tensor log_probabilities = log_probabilities_of(logits);
    const index_t vocab = logits.size(2);
    for (index_t s = 0; s < sources; ++s) {
      const index_t base = s * options.beams;
      for (index_t i = 0; i < options.beams; ++i) {  // rows without a live sequence get any valid input
        tokens.data()[base + i] = options.start;
        rows.data()[base + i] = i;
      }
      Search& search = searches[s];
      if (!search.done())
        search.advance(log_probabilities.data() + base * vocab, vocab, tokens.data() + base, rows.data() + base);
      for (index_t i = 0; i < options.beams; ++i) rows.data()[base + i] += base;
    }
  }
  std::vector<std::vector<Hypothesis>> out;
  for (Search& search : searches) out.push_back(search.result());
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

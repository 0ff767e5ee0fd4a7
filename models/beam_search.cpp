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
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      const Candidate& c = candidates[rank];
      Hypothesis h = {live_[static_cast<std::size_t>(c.row)].tokens, c.log_probability, c.token == options_.end};
      if (h.ended) {
        if (rank < beams()) finish(std::move(h));
        continue;
      }
      if (next.size() == beams()) continue;
      tokens[next.size()] = c.token;
      rows[next.size()] = c.row;
      h.tokens.push_back(c.token);
      next.push_back(std::move(h));
    }
    live_ = std::move(next);
    if (live_.empty()) return;
    if (static_cast<index_t>(live_.front().tokens.size()) >= options_.longest) {
      for (Hypothesis& h : live_) finish(std::move(h));
      live_.clear();
    } else if (finished_.size() == beams() && (beams() == 1 || bound() <= score(finished_.back()))) {
      live_.clear();
    }
  }

  std::vector<Hypothesis> result() { return std::move(finished_); }

 private:
  std::size_t beams() const { return static_cast<std::size_t>(options_.beams); }

  /// The most likely extensions of the live sequences, in order. Twice the number of beams: even if the best half ends
  /// here, enough remain to continue. Those of probability 0 are left out.
  std::vector<Candidate> best_candidates(const real* log_probabilities, index_t vocab) const {
    std::vector<Candidate> out;
    for (std::size_t row = 0; row < live_.size(); ++row) {
      const std::size_t before = out.size();
      for (index_t token = 0; token < vocab; ++token) {
        const auto added = static_cast<double>(log_probabilities[static_cast<index_t>(row) * vocab + token]);
        if (added > -std::numeric_limits<double>::infinity())  // neither -inf nor NaN
          out.push_back({static_cast<index_t>(row), token, live_[row].log_probability + added});
      }
      if (out.size() == before)
        throw ValueError("beam_search", "no token has a probability after " + std::to_string(live_[row].tokens.size()) +
                                            " tokens: the largest of " + std::to_string(vocab) +
                                            " logits must be finite");
    }
    const auto wanted = std::min(out.size(), 2 * beams());
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(wanted), out.end(),
                      [](const Candidate& a, const Candidate& b) {
                        if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
                        return std::pair(a.row, a.token) < std::pair(b.row, b.token);
                      });
    out.resize(wanted);
    return out;
  }

  double score(double log_probability, std::size_t tokens) const {
    return log_probability / std::pow(static_cast<double>(tokens), options_.length_power);
  }
  double score(const Hypothesis& h) const { return score(h.log_probability, h.tokens.size() + (h.ended ? 1 : 0)); }

  /// No sequence that continues a live one has a larger score: its probability is at most that of the most likely live
  /// one, and its length, with the end token, is what makes the most of it.
  double bound() const {
    const std::size_t shortest = live_.front().tokens.size() + 1, longest = static_cast<std::size_t>(options_.longest);
    return score(live_.front().log_probability, options_.length_power > 0 ? longest : shortest);
  }

  /// Adds a sequence to the finished ones, of which the best `beams` are kept, in order.
  void finish(Hypothesis h) {
    const auto better = [&](double a, const Hypothesis& b) { return a > score(b); };
    finished_.insert(std::upper_bound(finished_.begin(), finished_.end(), score(h), better), std::move(h));
    if (finished_.size() > beams()) finished_.pop_back();
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
  std::vector<Search> searches(static_cast<std::size_t>(sources), Search(options));
  IndexArray tokens(Shape{static_cast<std::size_t>(total), 1}, options.start),
      rows(Shape{static_cast<std::size_t>(total)});
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
      Search& search = searches[static_cast<std::size_t>(s)];
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

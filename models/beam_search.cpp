#include <xtape/core/error.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/models/beam_search.hpp>

#include <algorithm>
#include <cmath>

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
    std::vector<Candidate> candidates;
    for (std::size_t row = 0; row < live_.size(); ++row)
      for (index_t token = 0; token < vocab; ++token)
        candidates.push_back({static_cast<index_t>(row), token,
                              live_[row].log_probability +
                                  static_cast<double>(log_probabilities[static_cast<index_t>(row) * vocab + token])});
    // Twice the number of beams: even if the best half ends here, enough candidates remain to continue.
    const auto wanted = std::min(candidates.size(), static_cast<std::size_t>(2 * options_.beams));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(wanted), candidates.end(),
                      [](const Candidate& a, const Candidate& b) { return a.log_probability > b.log_probability; });
    candidates.resize(wanted);
    std::vector<Hypothesis> next;
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      const Candidate& c = candidates[rank];
      Hypothesis h = {live_[static_cast<std::size_t>(c.row)].tokens, c.log_probability, c.token == options_.end};
      if (h.ended) {
        if (rank < static_cast<std::size_t>(options_.beams)) finished_.push_back(std::move(h));
        continue;
      }
      if (next.size() == static_cast<std::size_t>(options_.beams)) continue;
      tokens[next.size()] = c.token;
      rows[next.size()] = c.row;
      h.tokens.push_back(c.token);
      next.push_back(std::move(h));
    }
    live_ = std::move(next);
    if (static_cast<index_t>(live_.front().tokens.size()) >= options_.longest ||
        static_cast<index_t>(finished_.size()) >= options_.beams)
      close();
  }

  std::vector<Hypothesis> result() { return std::move(finished_); }

 private:
  double score(const Hypothesis& h) const {
    const auto tokens = static_cast<double>(h.tokens.size() + (h.ended ? 1 : 0));
    return h.log_probability / std::pow(tokens, options_.length_power);
  }

  /// Adds unfinished sequences until there are enough, and sorts by score.
  void close() {
    for (Hypothesis& h : live_)
      if (static_cast<index_t>(finished_.size()) < options_.beams) finished_.push_back(std::move(h));
    live_.clear();
    std::stable_sort(finished_.begin(), finished_.end(),
                     [&](const Hypothesis& a, const Hypothesis& b) { return score(a) > score(b); });
  }

  const BeamSearchOptions& options_;
  std::vector<Hypothesis> live_, finished_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(index_t sources, const BeamStep& step, const BeamSelect& select,
                                                 const BeamSearchOptions& options) {
  if (sources < 1 || options.beams < 1 || options.longest < 1)
    throw ValueError("beam_search", "sources, beams and longest must be at least 1");
  const index_t total = sources * options.beams;
  std::vector<Search> searches(static_cast<std::size_t>(sources), Search(options));
  IndexArray tokens(Shape{static_cast<std::size_t>(total), 1}, options.start),
      rows(Shape{static_cast<std::size_t>(total)});
  const auto done = [](const Search& search) { return search.done(); };
  for (bool first = true; !std::all_of(searches.begin(), searches.end(), done); first = false) {
    if (!first && options.beams > 1) select(rows);
    const Tensor logits = step(tokens);
    if (logits.rank() != 3 || logits.size(0) != total || logits.size(1) != 1)
      fail_shapes<Shape>("beam_search", "logits must be [B beams, 1, V]", {tokens.shape(), logits.shape()});
    const Tensor log_probabilities = log_softmax(logits);
    const index_t vocab = logits.size(2);
    for (index_t s = 0; s < sources; ++s) {
      const index_t base = s * options.beams;
      for (index_t i = 0; i < options.beams; ++i) {  // rows without a live sequence get any valid input
        tokens.data()[base + i] = options.end;
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

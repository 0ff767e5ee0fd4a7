#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/data/verses.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

constexpr index_t kBooks = 66;
constexpr std::array<index_t, 6> kLastBooks = {5, 17, 22, 39, 44, 66};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    if (out.back().ends_with('\r')) out.back().remove_suffix(1);
    begin = end + 1;
  }
  return out;
}

[[noreturn]] void fail_line(std::size_t number, const char* expected, std::string_view got) {
  throw FileError("verses",
                  "line " + std::to_string(number + 1) + " of the references: " + expected_got(expected, got));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

index_t verse_part(index_t book) {
  check_index("verse_part", "books", book, 1, kBooks);
  return std::lower_bound(kLastBooks.begin(), kLastBooks.end(), book) - kLastBooks.begin();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool apostrophe = text[i] == '\'' && inside && i + 1 < text.size() && is_letter(text[i + 1]);
    if (is_letter(text[i]) || apostrophe) {
      if (!inside) out.emplace_back();
      out.back() += apostrophe || text[i] >= 'a' ? text[i] : static_cast<char>(text[i] - 'A' + 'a');
      inside = true;
      continue;
    }
    inside = false;
    if (std::string_view(".,;:?!()").find(text[i]) != std::string_view::npos) out.emplace_back(1, text[i]);
  }
  return out;
}

std::vector<Verse> parse_verses(std::string_view text, std::string_view references) {
  const auto verses = lines_of(without_byte_order_mark(text)), rows = lines_of(without_byte_order_mark(references));
  const std::string_view header = rows.empty() ? "" : rows[0];
  if (header != "book\tchapter\tverse") fail_line(0, "the columns book, chapter, verse", header);
  if (rows.size() != verses.size() + 1)
    throw FileError("verses", "a reference for each of " + std::to_string(verses.size()) + " verses", rows.size() - 1);
  std::vector<Verse> out;
  std::string_view book, chapter;
  index_t books = 0, chapters = -1;
  for (std::size_t i = 0; i < verses.size(); ++i) {
    const std::string_view row = rows[i + 1];
    const std::size_t first = row.find('\t'),
                      second = first == std::string_view::npos ? first : row.find('\t', first + 1);
    if (second == std::string_view::npos) fail_line(i + 1, "three columns", row);
    if (row.substr(0, first) != book) {
      book = row.substr(0, first);
      chapter = {};
      if (++books > kBooks) fail_line(i + 1, "66 books", "another");
    }
    if (row.substr(first, second - first) != chapter) {
      chapter = row.substr(first, second - first);
      ++chapters;
    }
    out.push_back({verse_part(books), chapters, std::string(verses[i])});
  }
  if (books != kBooks) throw FileError("verses", "66 books", books);
  return out;
}

VerseData::VerseData(const std::vector<Verse>& verses, const Options& o) : seed_(o.seed) {
  if (!(o.test_share > 0) || !(o.validation_share > 0) || !(o.test_share + o.validation_share < 1))
    throw ValueError("verse_data", "positive shares of test and validation that are below 1 together", o.test_share,
                     o.validation_share);
  index_t groups = 0;
  for (const Verse& verse : verses) groups = std::max(groups, verse.group + 1);
  const std::vector<index_t> order = shuffled(groups, o.seed, stream_id("verse_split"));
  std::vector<double> place(groups);  // of each chapter in the random order, as a fraction 0..1
  for (index_t i = 0; i < groups; ++i) place[order[i]] = static_cast<double>(i) / static_cast<double>(groups);
  const auto side = [&](const Verse& verse) -> std::vector<Example>& {
    const double p = place[verse.group];
    return p < o.test_share ? test_ : p < o.test_share + o.validation_share ? validation_ : train_;
  };
  std::map<std::string, index_t> counts;
  for (const Verse& verse : verses)
    if (&side(verse) == &train_)
      for (const std::string& word : words_of(verse.text)) ++counts[word];
  for (const auto& [word, count] : counts)
    if (count >= o.least_count) ids_.emplace(word, std::ssize(ids_) + 3);
  for (const Verse& verse : verses) {
    Example example = {{kStart}, verse.part};
    for (const std::string& word : words_of(verse.text)) {
      const auto found = ids_.find(word);
      example.words.push_back(found == ids_.end() ? kUnknown : found->second);
    }
    longest_ = std::max(longest_, std::ssize(example.words));
    side(verse).push_back(std::move(example));
  }
  if (train_.empty() || validation_.empty() || test_.empty())
    throw ValueError("verse_data", "chapters for training, validation and test", train_.size(), validation_.size(),
                     test_.size());
}

VerseData::Batch VerseData::batch_of(const std::vector<Example>& examples) {
  std::vector<std::vector<index_t>> words;
  IndexArray parts = empty_array<IndexArray>({std::ssize(examples)});
  for (std::size_t i = 0; i < examples.size(); ++i) {
    words.push_back(examples[i].words);
    parts.data()[i] = examples[i].part;
  }
  return {padded(words, kPadding), std::move(parts)};
}

VerseData::Batch VerseData::train_batch(index_t step, index_t batch, double word_dropout) const {
  if (order_.empty() || batch != batch_) {
    std::vector<index_t> lengths;
    for (const Example& example : train_) lengths.push_back(std::ssize(example.words));
    order_.clear();
    order_.emplace_back(std::move(lengths), batch, seed_);
    batch_ = batch;
  }
  std::vector<Example> chosen;
  for (index_t item : order_.front().at(step)) chosen.push_back(train_[item]);
  Random random(seed_, substream(stream_id("word_dropout"), static_cast<std::uint64_t>(step)));
  for (Example& example : chosen)
    for (index_t& word : example.words)
      if (word_dropout > 0 && random.uniform() < word_dropout && word != kStart) word = kUnknown;
  return batch_of(chosen);
}

VerseData load_verses(const std::string& text, const std::string& references, const VerseData::Options& options) {
  return {parse_verses(read_file(find_data(text)), read_file(find_data(references))), options};
}

NaiveBayes::NaiveBayes(const std::vector<VerseData::Example>& examples, index_t vocab, index_t parts, double smoothing)
    : smoothing_(smoothing), vocab_(vocab), log_prior_(parts), log_likelihood_(parts * vocab, smoothing) {
  if (examples.empty() || !(smoothing > 0))
    throw ValueError("naive_bayes", "examples, and a positive smoothing", examples.size(), smoothing);
  for (const auto& example : examples) {
    ++log_prior_[example.part];
    for (index_t word : example.words) ++log_likelihood_[example.part * vocab + word];
  }
  for (index_t part = 0; part < parts; ++part) {
    double& prior = log_prior_[part];
    prior = std::log(prior / static_cast<double>(examples.size()));
    const auto begin = log_likelihood_.begin() + part * vocab, end = begin + vocab;
    double total = 0;
    for (auto it = begin; it != end; ++it) total += *it;
    for (auto it = begin; it != end; ++it) *it = std::log(*it / total);
  }
}

index_t NaiveBayes::classify(const std::vector<index_t>& words) const {
  std::vector<double> scores = log_prior_;
  for (index_t part = 0; part < std::ssize(scores); ++part)
    for (index_t word : words) scores[part] += log_likelihood_[part * vocab_ + word];
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

NaiveBayes NaiveBayes::chosen(const VerseData& data, const std::vector<double>& smoothings) {
  if (smoothings.empty()) throw ValueError("naive_bayes", "at least 1 smoothing", 0);
  std::size_t most = 0;
  double best = smoothings.front();
  for (double smoothing : smoothings) {
    const NaiveBayes model(data.train(), data.vocab(), std::ssize(kVerseParts), smoothing);
    std::size_t right = 0;
    for (const auto& example : data.validation()) right += model.classify(example.words) == example.part;
    if (right <= most) continue;
    most = right;
    best = smoothing;
  }
  return {data.train(), data.vocab(), std::ssize(kVerseParts), best};
}

}  // namespace xtape

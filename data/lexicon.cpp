#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/lexicon.hpp>
#include <xtape/data/utf8.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace xtape {

namespace {

constexpr index_t kIgnored = -100;  // the target that cross_entropy ignores

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Reads one entry: one line of the lexicon.
class EntryReader {
 public:
  EntryReader(std::string_view line, std::string where) : line_(line), where_(std::move(where)) {}

  LexiconEntry read() {
    expect('(');
    LexiconEntry entry{quoted(), {{}}};
    symbol("a part of speech");
    expect('(');
    while (peek() == '(') syllable(entry.variants[0]);
    expect(')');
    expect(')');
    if (peek() != '\0') fail("nothing more");
    return entry;
  }

 private:
  /// ((sound ...) stress)
  void syllable(std::vector<std::string>& sounds) {
    expect('(');
    expect('(');
    while (peek() != ')') sounds.push_back(symbol("a sound"));
    expect(')');
    symbol("a stress");
    expect(')');
  }

  char peek() {
    while (at_ < line_.size() && is_space(line_[at_])) ++at_;
    return at_ < line_.size() ? line_[at_] : '\0';
  }
  void expect(char c) {
    if (peek() != c) fail(std::string("'") + c + "'");
    ++at_;
  }
  std::string quoted() {
    expect('"');
    const std::size_t end = line_.find('"', at_);
    if (end == std::string_view::npos) fail("the end of the word");
    std::string word(line_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }
  std::string symbol(const char* what) {
    peek();
    const std::size_t begin = at_;
    while (at_ < line_.size() && !is_space(line_[at_]) && line_[at_] != '(' && line_[at_] != ')' && line_[at_] != '"')
      ++at_;
    if (at_ == begin) fail(what);
    return std::string(line_.substr(begin, at_ - begin));
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    const std::string got = at_ < line_.size() ? "'" + std::string(1, line_[at_]) + "'" : "the end of the line";
    throw FileError("lexicon", where_ + ": column " + std::to_string(at_ + 1) + ": " + expected_got(wanted, got));
  }

  std::string_view line_;
  std::string where_;
  std::size_t at_ = 0;
};

bool is_plain_word(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::vector<LexiconEntry> parse_lexicon(std::string_view text, const std::string& name) {
  text = without_byte_order_mark(text);
  std::vector<LexiconEntry> out;
  std::map<std::string, std::size_t> places;
  for (std::size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view content = text.substr(begin, end - begin);
    begin = end + 1;
    if (content.empty() || content == "\r") continue;
    if (line == 1 && (content == "MNCL" || content == "MNCL\r")) continue;
    LexiconEntry entry = EntryReader(content, name + ":" + std::to_string(line)).read();
    if (!is_plain_word(entry.word) || entry.variants[0].empty()) continue;
    const auto [place, added] = places.try_emplace(entry.word, out.size());
    if (added) {
      out.push_back(std::move(entry));
      continue;
    }
    auto& variants = out[place->second].variants;
    if (std::find(variants.begin(), variants.end(), entry.variants[0]) == variants.end())
      variants.push_back(std::move(entry.variants[0]));
  }
  if (out.empty()) throw FileError("lexicon", name + " has no words of the letters a..z");
  return out;
}

PronunciationData::PronunciationData(const std::vector<LexiconEntry>& entries, const Options& options)
    : sound_names_{"padding", "start", "end"}, seed_(options.seed) {
  if (options.test_words < 0 || options.validation_words < 0 ||
      options.test_words + options.validation_words >= std::ssize(entries))
    throw ValueError("pronunciation_data",
                     "words for validation and test within the " + std::to_string(entries.size()) + " that there are",
                     options.validation_words, options.test_words);
  std::set<std::string> names;
  for (const LexiconEntry& entry : entries)
    for (const auto& variant : entry.variants) names.insert(variant.begin(), variant.end());
  sound_names_.insert(sound_names_.end(), names.begin(), names.end());
  std::map<std::string, index_t> ids;
  for (index_t i = 3; i < std::ssize(sound_names_); ++i) ids[sound_names_[i]] = i;
  const std::vector<index_t> order = shuffled(std::ssize(entries), options.seed, stream_id("pronunciation_split"));
  for (index_t place = 0; place < std::ssize(order); ++place) {
    const LexiconEntry& entry = entries[order[place]];
    Word word{entry.word, {}, {}};
    for (char c : entry.word) word.letters.push_back(c - 'a' + 1);
    longest_ = std::max(longest_, std::ssize(word.letters));
    for (const auto& variant : entry.variants) {
      word.variants.emplace_back();
      for (const std::string& sound : variant) word.variants.back().push_back(ids.at(sound));
      longest_ = std::max(longest_, std::ssize(variant) + 1);
    }
    const index_t held = options.test_words + options.validation_words;
    (place < options.test_words ? test_ : place < held ? validation_ : train_).push_back(std::move(word));
  }
  for (index_t w = 0; w < std::ssize(train_); ++w) {
    for (index_t v = 0; v < std::ssize(train_[w].variants); ++v) {
      pairs_.emplace_back(w, v);
      pair_lengths_.push_back(std::ssize(train_[w].letters) + std::ssize(train_[w].variants[v]));
    }
  }
}

PronunciationData::Batch PronunciationData::batch_of(const std::vector<std::pair<const Word*, index_t>>& pairs) {
  std::vector<std::vector<index_t>> letters, inputs, targets;
  for (const auto& [word, variant] : pairs) {
    const std::vector<index_t>& sounds = word->variants[variant];
    letters.push_back(word->letters);
    inputs.push_back({kStart});
    inputs.back().insert(inputs.back().end(), sounds.begin(), sounds.end());
    targets.push_back(sounds);
    targets.back().push_back(kEnd);
  }
  return {padded(letters, kPadding), padded(inputs, kPadding).ids, padded(targets, kIgnored).ids};
}

std::string PronunciationData::sounds_text(const std::vector<index_t>& sounds) const {
  std::string out;
  for (index_t sound : sounds) out += (out.empty() ? "" : " ") + sound_name(sound);
  return out;
}

PronunciationData::Batch PronunciationData::train_batch(index_t step, index_t batch) const {
  if (order_.empty() || batch != batch_) {
    order_.clear();
    order_.emplace_back(pair_lengths_, batch, seed_);
    batch_ = batch;
  }
  std::vector<std::pair<const Word*, index_t>> chosen;
  for (index_t item : order_.front().at(step)) {
    const auto& [word, variant] = pairs_[item];
    chosen.emplace_back(&train_[word], variant);
  }
  return batch_of(chosen);
}

PronunciationData::Batch PronunciationData::batch_of(const std::vector<Word>& words) {
  std::vector<std::pair<const Word*, index_t>> pairs;
  for (const Word& word : words)
    for (index_t v = 0; v < std::ssize(word.variants); ++v) pairs.emplace_back(&word, v);
  return batch_of(pairs);
}

PronunciationData load_pronunciations(const std::string& path, const PronunciationData::Options& options) {
  const std::string place = find_data(path);
  return {parse_lexicon(read_file(place), place), options};
}

PronunciationErrors pronunciation_errors(const std::vector<PronunciationData::Word>& words,
                                         const std::vector<std::vector<index_t>>& guesses) {
  if (words.empty() || words.size() != guesses.size())
    throw ValueError("pronunciation_errors", "words, and a guess for each", words.size(), guesses.size());
  index_t edits = 0, sounds = 0, wrong = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    index_t fewest = -1, length = 0;
    for (const auto& variant : words[w].variants) {
      const index_t distance = edit_distance(guesses[w], variant);
      if (fewest >= 0 && distance >= fewest) continue;
      fewest = distance;
      length = std::ssize(variant);
    }
    edits += fewest;
    sounds += length;
    wrong += fewest > 0;
  }
  return {static_cast<double>(edits) / static_cast<double>(sounds),
          static_cast<double>(wrong) / static_cast<double>(words.size())};
}

}  // namespace xtape

// Verses of the King James text with their part of the whole, as training data for a classifier.
#pragma once

#include <xtape/data/sequences.hpp>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// The parts, by books numbered 1..66 in the order of the text: 1-5, 6-17, 18-22, 23-39, 40-44, 45-66.
constexpr std::array<const char*, 6> kVerseParts = {"law",      "history",          "poetry",
                                                    "prophets", "gospels and acts", "letters"};
/// Part 0..5 of a book. Throws IndexError for a number outside 1..66.
index_t verse_part(index_t book);

/// Words of a text in lower case, letters a..z with apostrophes inside; each of . , ; : ? ! ( ) stands for itself.
std::vector<std::string> words_of(std::string_view text);

struct Verse {
  index_t part;   ///< 0..5
  index_t group;  ///< number of its chapter among all chapters
  std::string text;
};

/// The verses of a text, one a line, and of its table with the header "book\tchapter\tverse", a line a verse. Throws
/// FileError naming the line that is wrong, or if there are not 66 books.
std::vector<Verse> parse_verses(std::string_view text, std::string_view references);

/// Verses as word numbers, split by chapters: no chapter is on two sides.
class VerseData {
 public:
  struct Options {
    double test_share = 0.15;  ///< of the chapters
    double validation_share = 0.1;
    index_t least_count = 2;  ///< rarer words of the training verses are unknown
    std::uint64_t seed = 0;   ///< of the split and of the batches
  };
  static constexpr index_t kPadding = 0, kUnknown = 1, kStart = 2;  ///< every verse begins with kStart

  struct Example {
    std::vector<index_t> words;
    index_t part;
  };

  /// Throws ValueError if a share is outside 0..1 or a side is empty.
  VerseData(const std::vector<Verse>& verses, const Options& options);

  index_t vocab() const { return static_cast<index_t>(ids_.size()) + 3; }
  index_t longest() const { return longest_; }
  const std::vector<Example>& train() const { return train_; }
  const std::vector<Example>& validation() const { return validation_; }
  const std::vector<Example>& test() const { return test_; }

  struct Batch {
    PaddedSequences words;
    IndexArray parts;  ///< [B]
  };
  /// The training examples of a step, each once an epoch; each word is unknown with probability `word_dropout`. Depends
  /// on (seed, step) only for a given batch size.
  Batch train_batch(index_t step, index_t batch, double word_dropout = 0) const;
  static Batch batch_of(const std::vector<Example>& examples);

 private:
  std::map<std::string, index_t> ids_;
  std::vector<Example> train_, validation_, test_;
  std::uint64_t seed_;
  index_t longest_ = 0;
  mutable std::vector<LengthBatches> order_;  // of the batch size in use, or empty
  mutable index_t batch_ = 0;
};

/// Reads the two files, looked for by find_data. Throws FileError.
VerseData load_verses(const std::string& text, const std::string& references, const VerseData::Options& options);

/// Naive Bayes over single words: P(part) times the product of P(word | part), with counts raised by `smoothing`.
class NaiveBayes {
 public:
  /// Throws ValueError for no examples or a smoothing that is not positive.
  NaiveBayes(const std::vector<VerseData::Example>& examples, index_t vocab, index_t parts, double smoothing);
  /// The one of `smoothings` that is right most often on `validation`.
  static NaiveBayes chosen(const VerseData& data, const std::vector<double>& smoothings);

  index_t classify(const std::vector<index_t>& words) const;
  double smoothing() const { return smoothing_; }

 private:
  double smoothing_;
  index_t vocab_;
  std::vector<double> log_prior_;
  std::vector<double> log_likelihood_;  // [parts, vocab]
};

}  // namespace xtape

// Verses of the King James Bible with their part of it, as training data for a classifier.
#pragma once

#include <xtape/data/sequences.hpp>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// The parts, by book number 1..66: books 1-5, 6-17, 18-22, 23-39, 40-44 and 45-66.
constexpr std::array<const char*, 6> kVerseParts = {"law",      "history",          "poetry",
                                                    "prophets", "gospels and acts", "letters"};
/// The part, 0..5, of a book. Throws IndexError for a number outside 1..66.
index_t verse_part(index_t book);

/// The words of a text in lower case: letters a..z with inner apostrophes. Each of . , ; : ? ! ( ) is a word.
std::vector<std::string> words_of(std::string_view text);

struct Verse {
  index_t part;   ///< 0..5
  index_t group;  ///< index of the chapter
  std::string text;
};

/// Reads verses from a text with one verse a line and a table with the header "book\tchapter\tverse" and one line a
/// verse. Throws FileError, which names the wrong line, and if there are not 66 books.
std::vector<Verse> parse_verses(std::string_view text, std::string_view references);

/// Verses as word ids, split by chapters: all verses of a chapter are in the same part.
class VerseData {
 public:
  struct Options {
    double test_share = 0.15;  ///< share of the chapters
    double validation_share = 0.1;
    index_t least_count = 2;  ///< words that are rarer in the training verses become kUnknown
    std::uint64_t seed = 0;   ///< of the split and of the batches
  };
  static constexpr index_t kPadding = 0, kUnknown = 1, kStart = 2;  ///< every verse begins with kStart

  struct Example {
    std::vector<index_t> words;
    index_t part;
  };

  /// Throws ValueError if a share is outside 0..1 or a split is empty.
  VerseData(const std::vector<Verse>& verses, const Options& options);

  index_t vocab() const { return std::ssize(ids_) + 3; }
  index_t longest() const { return longest_; }
  const std::vector<Example>& train() const { return train_; }
  const std::vector<Example>& validation() const { return validation_; }
  const std::vector<Example>& test() const { return test_; }

  struct Batch {
    PaddedSequences words;
    IndexArray parts;  ///< [B]
  };
  /// The training examples of a step. Each example is used once an epoch; each word becomes kUnknown with probability
  /// `word_dropout`. For a given batch size it depends on (seed, step) only.
  Batch train_batch(index_t step, index_t batch, double word_dropout = 0) const;
  static Batch batch_of(const std::vector<Example>& examples);

 private:
  std::map<std::string, index_t> ids_;
  std::vector<Example> train_, validation_, test_;
  std::uint64_t seed_;
  index_t longest_ = 0;
  mutable std::vector<LengthBatches> order_;  // for the batch size in use, or empty
  mutable index_t batch_ = 0;
};

/// Reads the two files, found by find_data. Throws FileError.
VerseData load_verses(const std::string& text, const std::string& references, const VerseData::Options& options);

/// Naive Bayes on single words: P(part) times the product of P(word | part). `smoothing` is added to all counts.
class NaiveBayes {
 public:
  /// Throws ValueError if there are no examples or the smoothing is not positive.
  NaiveBayes(const std::vector<VerseData::Example>& examples, index_t vocab, index_t parts, double smoothing);
  /// The model whose smoothing, out of `smoothings`, has the highest accuracy on `validation`.
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

// A pronouncing lexicon as training data: letters are the input, sounds the output.
#pragma once

#include <xtape/data/sequences.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// A word and its pronunciations, each a list of sounds ("ae", "k", ...) without stress.
struct LexiconEntry {
  std::string word;
  std::vector<std::vector<std::string>> variants;
};

/// Reads the compiled form of a Festival lexicon: after a line MNCL entries ("word" part (((sound ...) stress) ...)).
/// Entries of the same word are merged without duplicate variants. Words with characters other than a..z are left out.
/// In the order of the file. Throws FileError, which names the wrong line, and for a text without words.
std::vector<LexiconEntry> parse_lexicon(std::string_view text, const std::string& name);

/// Letters and sounds as ids, split by words: all variants of a word are in the same part.
class PronunciationData {
 public:
  struct Options {
    index_t test_words = 2000;
    index_t validation_words = 500;
    std::uint64_t seed = 0;  ///< of the split and of the batches
  };

  /// Ids that are not sounds. Letters are 1..26, 0 is padding.
  static constexpr index_t kPadding = 0, kStart = 1, kEnd = 2;

  struct Word {
    std::string word;
    std::vector<index_t> letters;
    std::vector<std::vector<index_t>> variants;  ///< sounds, without start and end
  };

  /// Throws ValueError if no word is left for training.
  PronunciationData(const std::vector<LexiconEntry>& entries, const Options& options);

  index_t letters() const { return 27; }                       ///< number of ids
  index_t sounds() const { return std::ssize(sound_names_); }  ///< number of ids
  index_t longest() const { return longest_; }                 ///< length of the longest sequence, with start
  const std::string& sound_name(index_t id) const { return sound_names_.at(id); }
  std::string sounds_text(const std::vector<index_t>& sounds) const;  ///< their names with spaces between: "k ae t"

  const std::vector<Word>& train() const { return train_; }
  const std::vector<Word>& validation() const { return validation_; }
  const std::vector<Word>& test() const { return test_; }

  struct Batch {
    PaddedSequences source;  ///< letters
    IndexArray inputs;       ///< [B, T]: start, then sounds
    IndexArray targets;      ///< [B, T]: sounds, then end; -100, which losses ignore, from there on
  };

  /// The pairs of a training step: every variant of every training word is used once an epoch. For a given batch size
  /// it depends on (seed, step) only.
  Batch train_batch(index_t step, index_t batch) const;
  /// All variants of the given words.
  static Batch batch_of(const std::vector<Word>& words);

 private:
  using Pair = std::pair<index_t, index_t>;  // training word, variant
  static Batch batch_of(const std::vector<std::pair<const Word*, index_t>>& pairs);

  std::vector<std::string> sound_names_;
  std::vector<Word> train_, validation_, test_;
  std::vector<Pair> pairs_;
  std::vector<index_t> pair_lengths_;
  std::uint64_t seed_;
  index_t longest_ = 0;
  mutable std::vector<LengthBatches> order_;  // for the batch size in use, or empty
  mutable index_t batch_ = 0;
};

/// Reads a lexicon file, found by find_data. Throws FileError.
PronunciationData load_pronunciations(const std::string& path, const PronunciationData::Options& options);

/// Errors of guesses, each compared with the nearest variant of its word.
struct PronunciationErrors {
  double phoneme_error_rate;  ///< edits / number of sounds of the nearest variants
  double word_error_rate;     ///< share of words that match no variant
};
/// Throws ValueError unless there is one guess for each of at least one word.
PronunciationErrors pronunciation_errors(const std::vector<PronunciationData::Word>& words,
                                         const std::vector<std::vector<index_t>>& guesses);

}  // namespace xtape

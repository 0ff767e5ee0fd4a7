// TextData: a text as training data for a language model, with vocabulary, split and batches.
#pragma once

#include <xtape/data/vocabulary.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace xtape {

enum class Symbols { characters, bytes };

struct TextOptions {
  index_t context = 64;                   ///< symbols in a window, T
  Symbols symbols = Symbols::characters;  ///< the kind of symbols
  std::uint64_t seed = 0;                 ///< of the training windows
};

/// Windows of a text. targets[b,t] is the symbol after inputs[b,t].
struct Batch {
  IndexArray inputs;   ///< [B, T]
  IndexArray targets;  ///< [B, T]
};

/// A text without any preprocessing: the first 90 % of its symbols for training, the last 10 % (rounded up) for
/// validation. No window crosses the border, so the splits share no input or target.
class TextData {
 public:
  /// A byte order mark at the start is skipped, if symbols are characters. Throws ValueError if the text is empty, is
  /// not UTF-8 although symbols are characters, a split has fewer than context + 1 symbols, or context is below 1.
  explicit TextData(std::string_view text, const TextOptions& options = {});

  /// Length and CRC-32 of the text, to identify it; without a byte order mark that was skipped.
  const std::string& fingerprint() const { return fingerprint_; }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  index_t vocab() const { return vocabulary_.size(); }  ///< number of distinct symbols V
  index_t context() const { return context_; }
  index_t train_size() const { return train_size_; }                ///< symbols for training
  index_t validation_size() const { return size() - train_size_; }  ///< symbols for validation

  /// `batch` random windows of the training split, [batch, T]. They depend on (seed, step) only; row b is the same for
  /// every batch size. Throws ValueError if step is negative or batch is below 1.
  Batch train_batch(index_t step, index_t batch) const;

  /// The training split read in order, as `streams` equal parts in parallel, [streams, T]. Row b continues where row b
  /// of the step before ended, so that the state of a recurrent model can be carried from batch to batch. A pass takes
  /// train_stream_windows steps; then each part starts again. Throws ValueError if step is negative, streams is below
  /// 1, or a part is shorter than a window.
  Batch train_stream(index_t step, index_t streams) const;
  /// The number of windows in each part.
  index_t train_stream_windows(index_t streams) const;

  /// The number of validation windows. Every validation symbol is the target of exactly one window, except the first
  /// symbol and a rest shorter than T.
  index_t validation_windows() const { return (validation_size() - 1) / context_; }

  /// The first `windows` validation windows (or all, if there are fewer) in order of the text, in batches of `batch`
  /// windows; the last batch may be smaller. Throws ValueError if batch or windows is below 1.
  std::vector<Batch> validation_batches(index_t batch, index_t windows) const;

  /// The first `windows` batches (or all, if there are fewer) of the validation split, read as train_stream does.
  /// Throws as it does.
  std::vector<Batch> validation_streams(index_t streams, index_t windows) const;

 private:
  index_t size() const { return std::ssize(ids_); }
  Batch windows_at(const std::vector<index_t>& starts) const;
  Batch stream_windows(index_t begin, index_t size, index_t window, index_t streams) const;
  index_t windows_in_stream(index_t size, index_t streams) const;

  index_t context_;
  std::uint64_t seed_;
  std::string fingerprint_;
  Vocabulary vocabulary_;
  std::vector<std::int32_t> ids_;
  index_t train_size_ = 0;
};

/// Batches that cover all of a text, given as ids [N]. Every id except the first is the target of exactly one position.
/// Consecutive windows of length `context` form batches of `batch` windows; the remaining windows, and a shorter last
/// window, form smaller batches. Throws ValueError for fewer than two ids, and if context or batch is below 1.
std::vector<Batch> reading_batches(const IndexArray& ids, index_t context, index_t batch = 1);

/// The content of a file of text, without a byte order mark. Throws FileError.
std::string read_text(const std::string& path);

/// Reads a text from a file, found by find_data. Throws FileError, which names the file, if it cannot be read or the
/// constructor rejects the text; ValueError if context is below 1.
TextData load_text(const std::string& path, const TextOptions& options = {});

}  // namespace xtape

// A text as training data for a language model: vocabulary, split, batches.
#pragma once

#include <xtape/data/vocabulary.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace xtape {

enum class Symbols { characters, bytes };

struct TextOptions {
  index_t context = 64;                   ///< symbols in a window, T
  Symbols symbols = Symbols::characters;  ///< what a symbol is
  std::uint64_t seed = 0;                 ///< of the training windows
};

/// Windows of a text: targets[b,t] is the symbol that follows inputs[b,t].
struct Batch {
  IndexArray inputs;   ///< [B, T]
  IndexArray targets;  ///< [B, T]
};

/// A text, taken as it is: the first 90 % of its symbols for training, the last 10 % (rounded up) for validation. No
/// window crosses the border, so no symbol of one split is ever an input or target of the other.
class TextData {
 public:
  /// Throws ValueError if the text is empty, is not UTF-8 when symbols are characters, or has a split of fewer than
  /// context + 1 symbols; or if context is below 1.
  explicit TextData(std::string_view text, const TextOptions& options = {});

  /// Length and CRC-32 of the text, to tell it from another one.
  const std::string& fingerprint() const { return fingerprint_; }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  index_t vocab() const { return vocabulary_.size(); }  ///< number of distinct symbols V
  index_t context() const { return context_; }
  index_t train_size() const { return train_size_; }                ///< symbols for training
  index_t validation_size() const { return size() - train_size_; }  ///< symbols for validation

  /// `batch` random windows of the training split, [batch, T]. They depend on (seed, step) only; row b is the same for
  /// every batch size. Throws ValueError if step is negative or batch is below 1.
  Batch train_batch(index_t step, index_t batch) const;

  /// The training split read from front to end in `streams` equal runs side by side, [streams, T]: row b goes on where
  /// row b of the step before ended, so that a recurrent model's state can be carried from batch to batch. A pass takes
  /// train_stream_windows steps; then each run starts again. Throws ValueError if step is negative, streams is below 1,
  /// or a run is shorter than a window.
  Batch train_stream(index_t step, index_t streams) const;
  /// Windows in each run.
  index_t train_stream_windows(index_t streams) const;

  /// Number of validation windows: every validation symbol but the first, and but a rest shorter than T, is the target
  /// of exactly one.
  index_t validation_windows() const { return (validation_size() - 1) / context_; }

  /// The first `windows` validation windows in the order of the text (all of them, if there are fewer), `batch` in each
  /// batch but perhaps the last. Throws ValueError if batch or windows is below 1.
  std::vector<Batch> validation_batches(index_t batch, index_t windows) const;

  /// The first `windows` batches (all of them, if there are fewer) of the validation split read in runs as in
  /// train_stream. Throws as that does.
  std::vector<Batch> validation_streams(index_t streams, index_t windows) const;

 private:
  index_t size() const { return static_cast<index_t>(ids_.size()); }
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

/// All of a text for a model to read, whose ids [N] are given: every id but the first is the target of exactly one
/// place. Windows of `context` follow each other, `batch` in each batch; those left over, and a last shorter one, come
/// in batches of their own. Throws ValueError for fewer than two ids, and if context or batch is below 1.
std::vector<Batch> reading_batches(const IndexArray& ids, index_t context, index_t batch = 1);

/// Reads a text from a file, looked for by find_data. Throws FileError with the file's name if it cannot be read, and
/// wherever the constructor refuses the text; ValueError if context is below 1.
TextData load_text(const std::string& path, const TextOptions& options = {});

}  // namespace xtape

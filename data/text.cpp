#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/text.hpp>
#include <xtape/data/utf8.hpp>

#include <algorithm>

namespace xtape {

namespace {

index_t train_part(index_t size) { return size * 9 / 10; }

/// What of a text is symbols: all bytes, or the characters without a byte order mark.
std::string_view symbols_in(std::string_view text, const TextOptions& options) {
  return options.symbols == Symbols::bytes ? text : without_byte_order_mark(text);
}

/// The reason why a text cannot be used, or "".
std::string complaint(std::string_view text, const TextOptions& options) {
  if (text.empty()) return "the text is empty";
  const bool of_bytes = options.symbols == Symbols::bytes;
  if (const std::size_t bad = of_bytes ? std::string_view::npos : find_invalid_utf8(text); bad != text.npos)
    return "the text is not valid UTF-8 at byte " + std::to_string(bad) + " (it can be read as bytes)";
  const auto size = static_cast<index_t>(of_bytes ? text.size() : count_code_points(text));
  const index_t train = train_part(size);
  if (std::min(train, size - train) > options.context) return "";
  return expected_got(
      "more symbols for training and for validation than the context of " + std::to_string(options.context), train,
      size - train);
}

void require_positive(const char* op, const char* name, index_t value) {
  if (value < 1) throw ValueError(op, std::string(name) + " of at least 1", value);
}

Vocabulary vocabulary_of(std::string_view text, const TextOptions& options) {
  require_positive("text", "context", options.context);
  if (const std::string reason = complaint(text, options); !reason.empty()) throw ValueError("text", reason);
  return options.symbols == Symbols::bytes ? Vocabulary::bytes() : Vocabulary::characters(text);
}

}  // namespace

TextData::TextData(std::string_view given, const TextOptions& options)
    : context_(options.context), seed_(options.seed), vocabulary_(vocabulary_of(symbols_in(given, options), options)) {
  const std::string_view text = symbols_in(given, options);
  fingerprint_ = std::to_string(text.size()) + " bytes, crc32 " + std::to_string(crc32(text));
  ids_.reserve(text.size());
  for (std::size_t position = 0; position < text.size();)
    ids_.push_back(static_cast<std::int32_t>(vocabulary_.next_id(text, position)));
  train_size_ = train_part(size());
}

Batch TextData::windows_at(const std::vector<index_t>& starts) const {
  const Shape shape = {std::ssize(starts), context_};
  Batch batch{empty_array<IndexArray>(shape), empty_array<IndexArray>(shape)};
  for (index_t b = 0; b < std::ssize(starts); ++b) {
    const index_t row = b * context_;
    std::copy_n(ids_.begin() + starts[b], context_, batch.inputs.data() + row);
    std::copy_n(ids_.begin() + starts[b] + 1, context_, batch.targets.data() + row);
  }
  return batch;
}

Batch TextData::train_batch(index_t step, index_t batch) const {
  if (step < 0) throw ValueError("train_batch", "step of at least 0", step);
  require_positive("train_batch", "batch", batch);
  Random random(seed_, substream(stream_id("text.train"), static_cast<std::uint64_t>(step)));
  std::vector<index_t> starts(batch);
  for (index_t& start : starts) start = random.below(train_size_ - context_);
  return windows_at(starts);
}

std::vector<Batch> TextData::validation_batches(index_t batch, index_t windows) const {
  require_positive("validation_batches", "batch", batch);
  require_positive("validation_batches", "windows", windows);
  std::vector<Batch> batches;
  const index_t end = std::min(windows, validation_windows());
  for (index_t first = 0; first < end;) {
    std::vector<index_t> starts(std::min(batch, end - first));
    for (index_t& start : starts) start = train_size_ + context_ * first++;
    batches.push_back(windows_at(starts));
  }
  return batches;
}

index_t TextData::windows_in_stream(index_t size, index_t streams) const {
  require_positive("text", "streams", streams);
  const index_t windows = (size - 1) / streams / context_;
  if (windows < 1)
    throw ValueError("text",
                     "more symbols than the context of " + std::to_string(context_) + " for each of " +
                         std::to_string(streams) + " streams",
                     std::to_string(size) + " in all");
  return windows;
}

Batch TextData::stream_windows(index_t begin, index_t size, index_t window, index_t streams) const {
  std::vector<index_t> starts(streams);
  for (index_t b = 0; b < streams; ++b) starts[b] = begin + b * ((size - 1) / streams) + window * context_;
  return windows_at(starts);
}

index_t TextData::train_stream_windows(index_t streams) const { return windows_in_stream(train_size_, streams); }

Batch TextData::train_stream(index_t step, index_t streams) const {
  if (step < 0) throw ValueError("train_stream", "step of at least 0", step);
  return stream_windows(0, train_size_, step % train_stream_windows(streams), streams);
}

std::vector<Batch> TextData::validation_streams(index_t streams, index_t windows) const {
  require_positive("validation_streams", "windows", windows);
  std::vector<Batch> batches;
  const index_t end = std::min(windows, windows_in_stream(validation_size(), streams));
  for (index_t window = 0; window < end; ++window)
    batches.push_back(stream_windows(train_size_, validation_size(), window, streams));
  return batches;
}

std::vector<Batch> reading_batches(const IndexArray& ids, index_t context, index_t batch) {
  require_positive("reading_batches", "context", context);
  require_positive("reading_batches", "batch", batch);
  const auto targets = numel(ids) - 1;
  if (targets < 1) throw ValueError("reading_batches", "at least 2 symbols", ids.size());
  std::vector<Batch> batches;
  for (index_t begin = 0; begin < targets;) {
    const index_t length = std::min(context, targets - begin);
    const index_t windows = std::min(batch, (targets - begin) / length);
    const Shape shape = {windows, length};
    batches.push_back({empty_array<IndexArray>(shape), empty_array<IndexArray>(shape)});
    std::copy_n(ids.data() + begin, windows * length, batches.back().inputs.data());
    std::copy_n(ids.data() + begin + 1, windows * length, batches.back().targets.data());
    begin += windows * length;
  }
  return batches;
}

std::string read_text(const std::string& path) {
  std::string text = read_file(path);
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  return text;
}

TextData load_text(const std::string& path, const TextOptions& options) {
  require_positive("load_text", "context", options.context);
  const std::string found = find_data(path);
  const std::string text = read_file(found);
  if (const std::string reason = complaint(symbols_in(text, options), options); !reason.empty())
    throw FileError("load_text", found + ": " + reason);
  return TextData(text, options);
}

}  // namespace xtape

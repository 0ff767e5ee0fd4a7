// LineReader: the whole lines of a file that grows while it is read.
#pragma once

#include <xtape/core/config.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace xtape {

/// Reads a file in blocks, each byte once. A line counts when its line end is written; what stands behind the last line
/// end waits for the next read. Bytes of 0, which a power cut leaves where data was not written yet, end a line too and
/// are left out, at no cost of memory.
class LineReader {
 public:
  /// Reads from a byte of the file on, at which a line begins. The file may be missing.
  explicit LineReader(std::string path, std::uint64_t offset = 0)
      : path_(std::move(path)), offset_(offset), position_(offset) {}

  struct Line {
    std::string_view text;  ///< without the line end; valid while it is passed
    index_t number;         ///< in the file, from 1; counted from the byte where reading began
    bool cut;               ///< zero bytes follow in place of the rest and the line end
  };

  /// Whether the file was cut or written anew since it was read, as by a resumed run. Reading then begins at byte 0,
  /// and the caller forgets what it has of the file.
  bool restart_if_rewritten();
  /// Passes the lines that were added, without empty ones. Returns their number.
  index_t read(const std::function<void(const Line&)>& take);

  /// The end of the last whole line, where a later reader can go on.
  std::uint64_t offset() const { return offset_; }
  bool missing() const { return missing_; }
  /// Whether a line without its end stands behind the last whole line.
  bool half() const { return !pending_.empty(); }

  /// Zero bytes in the file: how many stretches and bytes, and where the first begins.
  struct Holes {
    index_t count = 0, first_line = 0;
    std::uint64_t bytes = 0, first_byte = 0;
  };
  const Holes& holes() const { return holes_; }

 private:
  void take_block(std::string_view block, const std::function<void(const Line&)>& take);
  std::size_t skip_zeros(std::string_view block, std::size_t at);
  void pass(std::string_view text, bool cut, const std::function<void(const Line&)>& take);
  void remember_tail(std::string_view block);

  std::string path_;
  std::uint64_t offset_, position_;  // of the last line end; of the first byte that was not read
  index_t lines_ = 0, passed_ = 0;
  bool missing_ = false, in_hole_ = false;
  std::string pending_;  // what was read of a line without an end
  std::string tail_;     // the last bytes before position_
  Holes holes_;
};

}  // namespace xtape

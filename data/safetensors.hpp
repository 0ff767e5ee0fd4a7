// The safetensors format: named tensors and a map of strings in one file.
//
// Eight bytes, the length n of the header, little-endian; n bytes of JSON, {"name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}, ..., "__metadata__": {"key": "text", ...}}; then the data, which the tensors cover
// without gaps.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace xtape {

using Metadata = std::map<std::string, std::string>;

/// The metadata key of the checksum that write_safetensors adds: CRC-32, as eight hexadecimal digits, of the header
/// without this key, as compact JSON with sorted keys, followed by the data.
constexpr const char* kChecksumKey = "xtape.crc32";

/// A file in memory with a checked header.
class SafetensorsFile {
 public:
  /// Reads a file. Throws FileError, which names the file and the fault: invalid JSON, a duplicate key, an unknown
  /// element type, a size or offset that does not fit the file, overlapping tensors, unused bytes, a wrong checksum.
  explicit SafetensorsFile(const std::string& path);
  SafetensorsFile(SafetensorsFile&&) = delete;  // the tensors point into it

  const std::string& path() const { return path_; }
  /// The tensors, in order of their data.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const StoredTensor* find(std::string_view name) const;
  const Metadata& metadata() const { return metadata_; }
  /// Whether the file has a checksum. The constructor verified it.
  bool has_checksum() const { return metadata_.contains(kChecksumKey); }

 private:
  void read_header(std::string_view header, std::string_view data);
  void check_places(std::string_view data) const;

  std::string path_;
  std::string content_;
  std::vector<StoredTensor> tensors_;
  Metadata metadata_;
};

/// Writes a file durably (write_file), with a checksum. Tensors are sorted by descending element size, which aligns
/// them; otherwise their order is kept. Throws FileError, also for a duplicate name and for the name "__metadata__".
void write_safetensors(const std::string& path, std::vector<StoredTensor> tensors, const Metadata& metadata = {});

}  // namespace xtape

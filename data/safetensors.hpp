// The safetensors format: named tensors and a map of texts in one file.
//
// Eight bytes, the length n of the header, little-endian; n bytes of JSON, {"name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}, ..., "__metadata__": {"key": "text", ...}}; then the data, which the tensors cover
// without a gap.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace xtape {

using Metadata = std::map<std::string, std::string>;

/// The metadata key of the checksum that files written here have: CRC-32, eight hexadecimal digits, of the header
/// without this key, as compact JSON with sorted keys, and the data.
constexpr const char* kChecksumKey = "xtape.crc32";

/// A whole file in memory, every number in it checked.
class SafetensorsFile {
 public:
  /// Reads a file. Throws FileError, naming the file and what is wrong in it: not JSON, a key twice, an unknown element
  /// type, a size or place that does not fit the file, overlapping tensors, bytes of no tensor, a wrong checksum.
  explicit SafetensorsFile(const std::string& path);
  SafetensorsFile(SafetensorsFile&&) = delete;  // the tensors point into it

  const std::string& path() const { return path_; }
  /// In the order of their data.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Nothing if there is none of that name.
  const StoredTensor* find(std::string_view name) const;
  const Metadata& metadata() const { return metadata_; }
  /// True if the file has a checksum (which is right, or the constructor would have thrown).
  bool has_checksum() const { return metadata_.contains(kChecksumKey); }

 private:
  void read_header(std::string_view header, std::string_view data);
  void check_places(std::string_view data) const;

  std::string path_;
  std::string content_;
  std::vector<StoredTensor> tensors_;
  Metadata metadata_;
};

/// Writes a file as write_file does, with a checksum. Tensors of larger elements come first, so that every one is
/// aligned; else the order stays. Throws FileError, also for a name that stands twice or is "__metadata__".
void write_safetensors(const std::string& path, std::vector<StoredTensor> tensors, Metadata metadata = {});

}  // namespace xtape

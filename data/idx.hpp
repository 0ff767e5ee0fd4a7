// The IDX format of the MNIST data: one array in one file.
//
// Two zero bytes, a byte for the element type, a byte for the number of axes, the size of each axis in four bytes, then
// the elements, row-major. All numbers are big-endian.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <string>

namespace xtape {

/// A file in memory with a checked header.
class IdxFile {
 public:
  /// Reads a file, gzip-compressed or not. Throws FileError, which names the file and the fault, for an unknown element
  /// type or a size that does not match the header.
  explicit IdxFile(const std::string& path);
  /// Reads bytes in memory.
  IdxFile(std::string content, const std::string& name);
  IdxFile(IdxFile&&) = delete;  // the tensor points into it

  /// The array; its name is the file name.
  const StoredTensor& tensor() const { return tensor_; }

 private:
  std::string content_;
  StoredTensor tensor_;
};

}  // namespace xtape

// The IDX format of the MNIST data: one array in one file.
//
// Two zero bytes, a byte for the element type, a byte for the number of axes, the extents in four bytes each, then the
// elements, row-major; every number big-endian.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <string>

namespace xtape {

/// A whole file in memory, every number in it checked.
class IdxFile {
 public:
  /// Reads a file, packed with gzip or not. Throws FileError, naming the file and what is wrong in it: an unknown
  /// element type, or other bytes than the header announces.
  explicit IdxFile(const std::string& path);
  /// The same of bytes that are in memory.
  IdxFile(std::string content, const std::string& name);
  IdxFile(IdxFile&&) = delete;  // the tensor points into it

  /// Its name is that of the file.
  const StoredTensor& tensor() const { return tensor_; }

 private:
  std::string content_;
  StoredTensor tensor_;
};

}  // namespace xtape

// NumPy's .npy format: one array in one file.
//
// "\x93NUMPY", a version, the length of the header, and the header, a Python dict literal: {'descr': '<f8',
// 'fortran_order': False, 'shape': (3, 4), }; then the elements.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <string>

namespace xtape {

/// A file in memory with a checked header and elements in row-major order.
class NpyFile {
 public:
  /// Reads a file of format version 1, 2 or 3 with numbers or bools of either byte order. Throws FileError, which names
  /// the file and the fault.
  explicit NpyFile(const std::string& path);
  NpyFile(NpyFile&&) = delete;  // the tensor points into it

  /// The array; its name is the file name.
  const StoredTensor& tensor() const { return tensor_; }

 private:
  std::string content_;
  std::string reordered_;  // the elements, if the file has another order
  StoredTensor tensor_;
};

/// Writes a file durably (write_file). numpy.load reads it. Throws FileError.
void write_npy(const std::string& path, const StoredTensor& tensor);

inline namespace XTAPE_DTYPE {

/// Reads an array, converted as read_values does. Throws FileError.
inline Array load_npy(const std::string& path) { return to_array(NpyFile(path).tensor()); }

inline void save_npy(const std::string& path, const Array& array) { write_npy(path, stored(path, array)); }

}  // namespace XTAPE_DTYPE
}  // namespace xtape

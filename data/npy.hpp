// NumPy's .npy format: one array in one file.
//
// "\x93NUMPY", a version, the length of the header, and the header, a Python dict literal: {'descr': '<f8',
// 'fortran_order': False, 'shape': (3, 4), }; then the elements.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <string>

namespace xtape {

/// A whole file in memory, every number in it checked, its elements in row-major order.
class NpyFile {
 public:
  /// Reads a file of format version 1, 2 or 3 with numbers or bools of either byte order. Throws FileError, naming the
  /// file and what is wrong in it.
  explicit NpyFile(const std::string& path);
  NpyFile(NpyFile&&) = delete;  // the tensor points into it

  /// Its name is that of the file.
  const StoredTensor& tensor() const { return tensor_; }

 private:
  std::string content_;
  std::string reordered_;  // the elements, if they lie in another order in the file
  StoredTensor tensor_;
};

/// Writes a file as write_file does; numpy.load reads it. Throws FileError.
void write_npy(const std::string& path, const StoredTensor& tensor);

inline namespace XTAPE_DTYPE {

/// Reads an array, converted with the care of read_values. Throws FileError.
inline Array load_npy(const std::string& path) { return to_array(NpyFile(path).tensor()); }

inline void save_npy(const std::string& path, const Array& array) { write_npy(path, stored(path, array)); }

}  // namespace XTAPE_DTYPE
}  // namespace xtape

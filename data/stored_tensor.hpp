// StoredTensor: a tensor as stored in a file (element type, shape and bytes), and its conversion to numbers.
#pragma once

#include <xtape/core/shape.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// The types of elements in files. Those from c64 on are known by name and size only: a file that holds such a tensor
/// is read, and the tensor can be left out by a name map, but not converted.
enum class DType {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  c64,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz
};

/// The name in safetensors files: "F32", "BOOL".
std::string_view dtype_name(DType dtype);
/// The type of such a name; nothing for another name.
std::optional<DType> dtype_named(std::string_view name);
index_t dtype_size(DType dtype);  ///< bytes per element

struct StoredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::string_view bytes;  ///< little-endian, row-major; owned by the file or the array

  index_t size() const { return std::ssize(bytes) / dtype_size(dtype); }  ///< number of elements
};

/// The number of bytes of a shape. Nothing if it exceeds `limit` or a size is negative or exceeds 2^46. The computation
/// cannot overflow.
std::optional<std::size_t> stored_bytes(const Shape& shape, DType dtype, std::size_t limit);

/// Converts every element to the nearest number of the target type. NaN and infinities are kept. Throws FileError if
/// the loss is more than rounding: a finite number outside the range of the target type, an integer that it cannot hold
/// exactly, a fraction as an index, a bool that is neither 0 nor 1; and for a type that is not converted. `out` has
/// size() elements.
void read_values(const StoredTensor& tensor, float* out);
void read_values(const StoredTensor& tensor, double* out);
void read_values(const StoredTensor& tensor, index_t* out);

/// The values as a new array. Throws as read_values does.
IndexArray to_indices(const StoredTensor& tensor);

/// The bytes of values in memory, without a copy.
inline std::string_view bytes_of(const float* values, index_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(float)};
}
inline std::string_view bytes_of(const double* values, index_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(double)};
}

inline std::string_view bytes_of(const index_t* values, index_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(index_t)};
}

/// A view of the elements of an array, which must outlive it.
inline StoredTensor stored(std::string name, const IndexArray& array) {
  return {std::move(name), DType::i64, array.shape(), bytes_of(array.data(), numel(array))};
}

inline namespace XTAPE_DTYPE {

inline Array to_array(const StoredTensor& tensor) {
  Array out = empty_array(tensor.shape);
  read_values(tensor, out.data());
  return out;
}

/// A view of the elements of an array, which must outlive it.
inline StoredTensor stored(std::string name, const Array& array) {
  return {std::move(name), sizeof(real) == sizeof(double) ? DType::f64 : DType::f32, array.shape(),
          bytes_of(array.data(), numel(array))};
}

}  // namespace XTAPE_DTYPE
}  // namespace xtape

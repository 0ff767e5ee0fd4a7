#include <xtape/core/error.hpp>
#include <xtape/data/stored_tensor.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace xtape {

// Elements are written in the byte order of memory.
static_assert(std::endian::native == std::endian::little, "the byte order of files is little-endian");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

namespace {

struct TypeFacts {
  DType dtype;
  std::string_view name;
  index_t size;
};

constexpr TypeFacts kTypes[] = {{DType::f64, "F64", 8},
                                {DType::f32, "F32", 4},
                                {DType::f16, "F16", 2},
                                {DType::bf16, "BF16", 2},
                                {DType::i64, "I64", 8},
                                {DType::i32, "I32", 4},
                                {DType::i16, "I16", 2},
                                {DType::i8, "I8", 1},
                                {DType::u64, "U64", 8},
                                {DType::u32, "U32", 4},
                                {DType::u16, "U16", 2},
                                {DType::u8, "U8", 1},
                                {DType::boolean, "BOOL", 1},
                                {DType::c64, "C64", 8},
                                {DType::f8_e4m3, "F8_E4M3", 1},
                                {DType::f8_e5m2, "F8_E5M2", 1},
                                {DType::f8_e8m0, "F8_E8M0", 1},
                                {DType::f8_e4m3fnuz, "F8_E4M3FNUZ", 1},
                                {DType::f8_e5m2fnuz, "F8_E5M2FNUZ", 1}};

constexpr index_t kLargestSize = index_t{1} << 46;

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
float from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  float size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
  return (bits & 0x8000) != 0 ? -size : size;
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// Converts a number. Returns false if the loss is more than rounding.
template <class To, class From>
bool convert(From from, To& to) {
  if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    to = static_cast<To>(from);
    return std::isfinite(to) || !std::isfinite(from);
  } else if constexpr (std::is_floating_point_v<From>) {
    if (!(from >= static_cast<From>(-0x1p63) && from < static_cast<From>(0x1p63)) || from != std::trunc(from))
      return false;
    to = static_cast<To>(from);
    return true;
  } else if constexpr (std::is_floating_point_v<To>) {
    to = static_cast<To>(from);
    // Outside the range of From the cast back is undefined. Only the largest numbers round up to such a value.
    return to < std::ldexp(To{1}, std::numeric_limits<From>::digits) && static_cast<From>(to) == from;
  } else {
    to = static_cast<To>(from);
    return std::in_range<To>(from);
  }
}

/// `element(bytes)` decodes one element.
template <class To, class Element>
void convert_all(const StoredTensor& tensor, To* out, const Element& element) {
  const index_t step = dtype_size(tensor.dtype);
  for (index_t i = 0; i < tensor.size(); ++i)
    if (!convert(element(tensor.bytes.data() + i * step), out[i]))
      throw FileError("tensor " + tensor.name, "element " + std::to_string(i) + " of type " +
                                                   std::string(dtype_name(tensor.dtype)) + " does not fit the type " +
                                                   (std::is_integral_v<To> ? "of indices"
                                                    : sizeof(To) == 4      ? "float"
                                                                           : "double"));
}

template <class To>
void read_any(const StoredTensor& tensor, To* out) {
  const auto as = [&]<class From>(From) { convert_all(tensor, out, load<From>); };
  switch (tensor.dtype) {
    case DType::f64:
      return as(double{});
    case DType::f32:
      return as(float{});
    case DType::f16:
      return convert_all(tensor, out, [](const char* p) { return from_half(load<std::uint16_t>(p)); });
    case DType::bf16:
      return convert_all(tensor, out, [](const char* p) { return from_bfloat(load<std::uint16_t>(p)); });
    case DType::i64:
      return as(std::int64_t{});
    case DType::i32:
      return as(std::int32_t{});
    case DType::i16:
      return as(std::int16_t{});
    case DType::i8:
      return as(std::int8_t{});
    case DType::u64:
      return as(std::uint64_t{});
    case DType::u32:
      return as(std::uint32_t{});
    case DType::u16:
      return as(std::uint16_t{});
    case DType::u8:
      return as(std::uint8_t{});
    case DType::boolean:
      break;
    default:
      throw FileError("tensor " + tensor.name, "elements of type " + std::string(dtype_name(tensor.dtype)) +
                                                   " are not converted; leave the tensor out by a name map");
  }
  for (index_t i = 0; i < tensor.size(); ++i) {
    const char c = tensor.bytes[i];
    if (c != 0 && c != 1)
      throw FileError("tensor " + tensor.name, "0 or 1 as element " + std::to_string(i) + " of type BOOL", +c);
    out[i] = static_cast<To>(c);
  }
}

}  // namespace

std::string_view dtype_name(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)].name; }

index_t dtype_size(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)].size; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const TypeFacts& type : kTypes)
    if (type.name == name) return type.dtype;
  return std::nullopt;
}

std::optional<std::size_t> stored_bytes(const Shape& shape, DType dtype, std::size_t limit) {
  bool empty = false;
  for (index_t size : shape) {
    if (size < 0 || size > kLargestSize) return std::nullopt;
    empty = empty || size == 0;
  }
  if (empty) return 0;
  std::size_t bytes = dtype_size(dtype);
  for (const std::size_t size : shape) {
    if (bytes > limit / size) return std::nullopt;
    bytes *= size;
  }
  return bytes <= limit ? std::optional(bytes) : std::nullopt;
}

void read_values(const StoredTensor& tensor, float* out) { read_any(tensor, out); }
void read_values(const StoredTensor& tensor, double* out) { read_any(tensor, out); }
void read_values(const StoredTensor& tensor, index_t* out) { read_any(tensor, out); }

IndexArray to_indices(const StoredTensor& tensor) {
  IndexArray out = empty_array<IndexArray>(tensor.shape);
  read_values(tensor, out.data());
  return out;
}

}  // namespace xtape

#include <xtape/data/stored_tensor.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

/// A vector of elements given as bytes.
template <class T>
StoredTensor of(DType dtype, const std::vector<T>& elements) {
  REQUIRE(dtype_size(dtype) == sizeof(T));
  const std::string_view bytes(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  return {"w", dtype, {std::ssize(elements)}, bytes};
}

template <class To, class T>
std::vector<To> read(DType dtype, const std::vector<T>& elements) {
  std::vector<To> out(elements.size());
  read_values(of(dtype, elements), out.data());
  return out;
}

template <class To, class T>
void check_refused(DType dtype, T element, const std::string& wanted) {
  check_throws<FileError>(
      [&] { read<To>(dtype, std::vector<T>{0, element}); },
      "[tensor w] element 1 of type " + std::string(dtype_name(dtype)) + " does not fit the type " + wanted);
}

constexpr float kFloatInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("element types have the names of safetensors") {
  for (const char* name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}) {
    REQUIRE(dtype_named(name).has_value());
    CHECK(dtype_name(*dtype_named(name)) == name);
  }
  CHECK(!dtype_named("F4"));
  CHECK(!dtype_named("f32"));
}

TEST_CASE("half-precision numbers are read as what they are") {
  const std::vector<std::uint16_t> half = {0x3C00, 0xC000, 0x3555, 0x7BFF, 0x0001, 0x0400, 0x8000, 0x7C00, 0xFC00};
  const std::vector<float> numbers = {1, -2, 0.333251953125F, 65504, 0x1p-24F, 0x1p-14F, -0.0F, kFloatInf, -kFloatInf};
  CHECK(read<float>(DType::f16, half) == numbers);
  CHECK(std::signbit(read<double>(DType::f16, half)[6]));
  CHECK(std::isnan(read<double>(DType::f16, std::vector<std::uint16_t>{0x7E00})[0]));
  const std::vector<std::uint16_t> brain = {0x3F80, 0xC000, 0x4049, 0x7F80, 0x0001};
  CHECK(read<float>(DType::bf16, brain) == std::vector<float>{1, -2, 3.140625F, kFloatInf, 0x1p-133F});
  CHECK(std::isnan(read<float>(DType::bf16, std::vector<std::uint16_t>{0x7FC0})[0]));
}

TEST_CASE("numbers are rounded to the wanted type, and refused where more would be lost") {
  CHECK(read<float>(DType::f64, std::vector<double>{0.1, -1e-60})[0] == 0.1F);
  CHECK(read<double>(DType::f32, std::vector<float>{0.1F})[0] == static_cast<double>(0.1F));
  CHECK(read<float>(DType::f64, std::vector<double>{-static_cast<double>(kFloatInf)})[0] == -kFloatInf);
  CHECK(std::isnan(read<float>(DType::f64, std::vector<double>{std::nan("")})[0]));
  check_refused<float>(DType::f64, 1e39, "float");
  CHECK(read<float>(DType::i32, std::vector<std::int32_t>{-16777216, 33554432})[0] == -16777216);
  check_refused<float>(DType::i32, std::int32_t{16777217}, "float");
  check_refused<float>(DType::i32, std::numeric_limits<std::int32_t>::max(), "float");
  CHECK(read<double>(DType::i32, std::vector<std::int32_t>{16777217})[0] == 16777217);
  check_refused<double>(DType::i64, std::numeric_limits<std::int64_t>::max(), "double");
  CHECK(read<double>(DType::i64, std::vector{std::numeric_limits<std::int64_t>::min()})[0] == -0x1p63);
  check_refused<double>(DType::u64, std::numeric_limits<std::uint64_t>::max(), "double");
  CHECK(read<float>(DType::u8, std::vector<std::uint8_t>{255})[0] == 255);
  CHECK(read<float>(DType::i8, std::vector<std::int8_t>{-128})[0] == -128);
}

TEST_CASE("indices are whole numbers") {
  CHECK(read<index_t>(DType::i32, std::vector<std::int32_t>{-7, 9}) == std::vector<index_t>{-7, 9});
  CHECK(read<index_t>(DType::u64, std::vector<std::uint64_t>{9})[0] == 9);
  CHECK(read<index_t>(DType::f32, std::vector<float>{-3})[0] == -3);
  check_refused<index_t>(DType::u64, std::uint64_t{1} << 63, "of indices");
  check_refused<index_t>(DType::f32, 0.5F, "of indices");
  check_refused<index_t>(DType::f32, std::nanf(""), "of indices");
  check_refused<index_t>(DType::f64, 0x1p63, "of indices");
}

TEST_CASE("a bool is 0 or 1") {
  CHECK(read<float>(DType::boolean, std::vector<std::uint8_t>{0, 1}) == std::vector<float>{0, 1});
  check_throws<FileError>([] { read<float>(DType::boolean, std::vector<std::uint8_t>{0, 2}); },
                          "expected 0 or 1 as element 1 of type BOOL, got ");
}

TEST_CASE("the bytes of a shape are counted without overflow") {
  const std::size_t huge = std::size_t{1} << 62;
  CHECK(stored_bytes({2, 3}, DType::f64, 48) == 48);
  CHECK(stored_bytes({}, DType::f32, 4) == 4);
  CHECK(stored_bytes({2, 0, 3}, DType::f32, 0) == 0);
  CHECK(!stored_bytes({2, 3}, DType::f64, 47));
  CHECK(!stored_bytes({huge, 4}, DType::u8, ~std::size_t{0}));  // 2^64 bytes
  CHECK(!stored_bytes({huge, 0}, DType::u8, 0));
  CHECK(!stored_bytes({std::size_t{1} << 31, std::size_t{1} << 31, 4}, DType::f32, ~std::size_t{0}));
}

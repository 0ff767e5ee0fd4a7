#include <xtape/data/npy.hpp>

#include "child_process.hpp"
#include "inspect/log/file_size_limit.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

const std::string kMagic = "\x93NUMPY";

/// A file of format version 1 with a dict and data.
std::string file_of(const std::string& dict, const std::string& data, std::size_t announced = 0) {
  if (announced == 0) announced = dict.size();
  std::string out = kMagic;
  out += {1, 0, static_cast<char>(announced & 255), static_cast<char>(announced >> 8)};
  return out + dict + data;
}

/// The same of version 2 or 3, whose length has four bytes.
std::string long_file_of(char version, const std::string& dict, const std::string& data, std::uint32_t announced) {
  std::string out = kMagic;
  out += {version, 0};
  for (int i = 0; i < 4; ++i) out += static_cast<char>(announced >> (8 * i));
  return out + dict + data;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n";
}

template <class T>
std::string bytes(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

}  // namespace

TEST_CASE("sound npy files are read") {
  const TemporaryDirectory work;
  const auto read = [&](const std::string& content) { return load_npy(work.write("file.npy", content)); };
  const std::string six = bytes(std::vector<double>{0, 1, 2, 3, 4, 5});
  const Array want = array({2, 3}, {0, 1, 2, 3, 4, 5});
  check_equal(read(file_of(dict("<f8", "(2, 3)"), six)), want);
  check_equal(read(file_of(R"({"shape":(2,3),"fortran_order":False,"descr":"<f8"})", six)), want);
  check_equal(read(file_of(dict("<f8", "(2, 3)", "True"), bytes(std::vector<double>{0, 3, 1, 4, 2, 5}))), want);
  check_equal(
      read(long_file_of(2, dict("<f8", "(2, 3)"), six, static_cast<std::uint32_t>(dict("<f8", "(2, 3)").size()))),
      want);
  check_equal(
      read(long_file_of(3, dict("<f8", "(2, 3)"), six, static_cast<std::uint32_t>(dict("<f8", "(2, 3)").size()))),
      want);
  check_equal(read(file_of(dict("<f8", "()"), six.substr(8, 8))), array({}, {1}));
  check_equal(read(file_of(dict("<f8", "(3,)"), six.substr(0, 24))), row({0, 1, 2}));
  CHECK(read(file_of(dict("<f8", "(2, 0)"), "")).shape() == Shape{2, 0});
  check_equal(read(file_of(dict(">f4", "(2,)"), std::string("\x3F\x80\0\0\xC0\0\0\0", 8))), row({1, -2}));
  check_equal(read(file_of(dict("|b1", "(2,)"), std::string("\1\0", 2))), row({1, 0}));
  check_equal(read(file_of(dict("<f2", "(1,)"), std::string("\0\x3C", 2))), row({1}));

  std::vector<std::int32_t> column_major(24);  // element (i,j,k) of [2,3,4] is 100 i + 10 j + k
  for (int i = 0; i < 24; ++i) column_major[i] = i % 2 * 100 + i / 2 % 3 * 10 + i / 6;
  const NpyFile fortran(work.write("f.npy", file_of(dict("<i4", "(2, 3, 4)", "True"), bytes(column_major))));
  const IndexArray values = to_indices(fortran.tensor());
  for (index_t i = 0, at = 0; i < 2; ++i)
    for (index_t j = 0; j < 3; ++j)
      for (index_t k = 0; k < 4; ++k) CHECK(values.data()[at++] == 100 * i + 10 * j + k);
}

TEST_CASE("hostile npy files are refused with what is wrong in them") {
  const TemporaryDirectory work;
  const std::string header = dict("<f8", "(3,)");
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "this is not an .npy file"},
      {"\x93NUMPX and more", "this is not an .npy file"},
      {"PK\x03\x04 and more", "this is a zip archive (.npz)"},
      {kMagic + std::string("\x04\0\0\0", 4), "format version 4 is not known here"},
      {kMagic + std::string("\x02\0\0\0", 4), "the file ends in its header"},
      {file_of(header, std::string(10, 'x')),
       "expected the bytes of shape (3) and type '<f8' after the header, got 10"},
      {file_of(header, std::string(25, 'x')), "after the header, got 25"},
      {file_of(header, std::string(24, 'x'), 65535), " bytes, got 65535"},
      {long_file_of(2, header, std::string(24, 'x'), 0xFFFFFFF0), "expected a header within the file of "},
      {file_of(dict("<f8", "(4611686018427387904, 4)"), std::string(24, 'x')), "after the header, got 24"},
      {file_of(dict("<f8", "(100000000000,)"), std::string(24, 'x')), "after the header, got 24"},
      {file_of(dict("<f8", "(99999999999999999999,)"), ""), "a shape that is not a tuple of sizes"},
      {file_of(dict("<f8", "(-1,)"), ""), "a shape that is not a tuple of sizes"},
      {file_of(dict("<f8", "(3 3)"), ""), "a shape that is not a tuple of sizes"},
      {file_of(dict("<f8", "3"), ""), "a '(' is missing"},
      {file_of(dict("<c8", "(3,)"), ""), "elements of the type '<c8' are not known here"},
      {file_of(dict("|O", "(3,)"), ""), "elements of the type '|O' are not known here"},
      {file_of(dict("|f8", "(3,)"), ""), "elements of the type '|f8' are not known here"},
      {file_of(dict("<f8", "(3,)", "Maybe"), ""), "neither True nor False"},
      {file_of("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }", ""), "a text in quotes"},
      {file_of("{'descr': '<f8', 'shape': (3,), }", ""), "has not all of descr, fortran_order and shape"},
      {file_of("{'descr': '<f8', 'descr': '<f8', }", ""), "the key 'descr' twice"},
      {file_of("{'what': '<f8', }", ""), "the key 'what' twice or does not know it"},
      {file_of("{'descr': '<f8' 'shape': (3,)}", ""), "is no Python dict"},
      {file_of("{'descr': '<f8", ""), "a text in quotes"},
      {file_of("{'descr'", ""), "a ':' is missing"},
      {file_of(header + "}", ""), "goes on after its end"},
      {file_of("nothing", ""), "a '{' is missing"},
  };
  for (const auto& [content, message] : table) {
    const std::string path = work.write("file.npy", content);
    check_throws<FileError>([&] { load_npy(path); }, "[npy] " + path + ": ");
    check_throws<FileError>([&] { load_npy(path); }, message);
  }
}

TEST_CASE("what is written as npy is read back") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file.npy";
  for (const Array& want : {array({}, {0.25}), row({1, 2, -3}), array({2, 1, 2}, {1, 2, 3, 4}), empty_array({0, 3})}) {
    save_npy(path, want);
    check_equal(load_npy(path), want);
    const std::string content = content_of(path);
    CHECK((content.size() - want.size() * sizeof(real)) % 64 == 0);
    CHECK(content[content.size() - want.size() * sizeof(real) - 1] == '\n');
  }
  write_npy(path, {"", DType::boolean, {2}, std::string_view("\1\0", 2)});
  CHECK(content_of(path).find("'|b1'") != std::string::npos);
  check_throws<FileError>([&] { write_npy(path, {"", DType::bf16, {1}, "xx"}); }, "numpy has no type BF16");
  const FileSizeLimit limit(50);
  check_throws<FileError>([&] { save_npy(path, row({1})); }, "File too large");
}

#include <xtape/data/idx.hpp>

#include "gzip_files.hpp"
#include "idx_files.hpp"
#include "support.hpp"
#include "temporary_files.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("idx: sound files of every element type are read, packed or not") {
  const TemporaryDirectory work;
  const auto read = [&](const std::string& content) { return to_array(IdxFile(work.write("file", content)).tensor()); };
  const std::string bytes({0, 1, '\x7F', '\xFF'});
  check_equal(read(idx_file(0x08, {2, 2}, bytes)), array({2, 2}, {0, 1, 127, 255}));  // 255, and not -1
  check_equal(read(packed(idx_file(0x08, {2, 2}, bytes))), array({2, 2}, {0, 1, 127, 255}));
  check_equal(read(idx_file(0x09, {4}, bytes)), row({0, 1, 127, -1}));
  check_equal(read(idx_file(0x0B, {2}, bytes)), row({1, 32767}));
  check_equal(read(idx_file(0x0C, {1}, bytes)), row({98303}));
  check_equal(read(idx_file(0x0D, {1}, std::string("\xC0\x20\0\0", 4))), row({-2.5}));
  check_equal(read(idx_file(0x0E, {1}, std::string("\xC0\x04\0\0\0\0\0\0", 8))), row({-2.5}));
  check_equal(read(idx_file(0x08, {}, "\7")), array({}, {7}));
  CHECK(read(idx_file(0x08, {0, 28, 28}, "")).shape() == Shape{0, 28, 28});
}

TEST_CASE("idx: other files say what is wrong, with the bytes that should be there and that are") {
  const std::vector<std::pair<std::string, const char*>> table = {
      {"", "this is not an IDX file"},
      {"\x89PNG", "this is not an IDX file"},
      {idx_file(0x0A, {1}, "x"), "elements of type number 10 are not known here"},
      {idx_file(0x08, {1, 2, 3}, "").substr(0, 15), "the file ends in its header of 3 axes"},
      {idx_file(0x08, {60000, 28, 28}, std::string(7840, 'x')),
       "expected 47040000 bytes for shape (60000,28,28) after the header, got 7840"},
      {idx_file(0x08, {2}, "xxx"), "expected 2 bytes for shape (2) after the header, got 3"},
      {idx_file(0x0E, {2147483648u, 28, 28}, ""),
       "expected 13469017440256 bytes for shape (2147483648,28,28) after the header, got 0"},
      {idx_file(0x08, {2147483648u, 2147483648u, 2147483648u}, ""),
       "expected more than any file's bytes for shape (2147483648,2147483648,2147483648)"},
  };
  for (const auto& [content, message] : table)
    check_throws<FileError>([&c = content] { IdxFile(c, "file"); }, std::string("file: ") + message);
  const TemporaryDirectory work;
  check_throws<FileError>([&] { IdxFile file(work.path() + "/none"); }, "none");
}

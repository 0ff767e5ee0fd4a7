#include <xtape/data/safetensors.hpp>
#include <xtape/data/safetensors_listing.hpp>

#include "data/temporary_files.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a listing has every tensor, the total and the metadata on lines of their own") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  write_safetensors(path,
                    {{"layer.weight", DType::f32, {2, 3}, bytes_of(numbers.data(), 6)},
                     {"count", DType::u8, {}, std::string_view("\1", 1)}},
                    {{"note", "two\nlines"}, {"long", std::string(119, 'x') + "\xC3\xA9" + std::string(100, 'y')}});
  const std::string text = safetensors_listing(path);
  const std::string head =
      "name          type  shape  elements\n"
      "layer.weight  F32   (2,3)  6\n"
      "count         U8    ()     1\n"
      "2 tensors, 7 elements, 25 bytes of data; the checksum is right\n"
      "long: " +
      std::string(119, 'x') + "... (221 bytes)\n" + "note: two lines\n";
  CHECK(text.substr(0, head.size()) == head);
  CHECK(text.find("xtape.crc32: ") != std::string::npos);
  check_throws<FileError>([&] { safetensors_listing(work.write("bad", "x")); },
                          "expected a header of at least 8 bytes, got 1");
}

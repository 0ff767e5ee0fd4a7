#include <xtape/data/gzip.hpp>

#include "gzip_files.hpp"
#include "support.hpp"
#include "temporary_files.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("gzip: content comes back, of several members too") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * i % 977) + " ";
  CHECK(unpack_gzip(packed(text), "file") == text);
  CHECK(unpack_gzip(packed(""), "file").empty());
  CHECK(unpack_gzip(packed("one ") + packed("") + packed("two"), "file") == "one two");
  const std::string zeros(512, '\0');  // as a tape pads its blocks
  CHECK(unpack_gzip(packed("one ") + packed("two") + zeros, "file") == "one two");
  check_throws<FileError>([&] { unpack_gzip(packed("one") + zeros + "x", "file"); }, "file: 513 bytes follow its end");
  const TemporaryDirectory work;
  CHECK(read_unpacked(work.write("packed", packed(text))) == text);
  CHECK(read_unpacked(work.write("plain", text)) == text);
  CHECK(read_unpacked(work.write("empty", "")).empty());
}

TEST_CASE("gzip: damaged files and those that would fill the memory") {
  const std::string sound = packed("some content that is long enough to be cut");
  for (std::size_t size = 2; size < sound.size(); ++size)
    check_throws<FileError>([&] { unpack_gzip(sound.substr(0, size), "file"); }, "file: the file is cut");
  std::string damaged = sound;
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  check_throws<FileError>([&] { unpack_gzip(damaged, "file"); }, "file: the file is damaged: incorrect data check");
  check_throws<FileError>([&] { unpack_gzip(sound + "x", "file"); }, "file: 1 bytes follow its end");
  check_throws<FileError>([] { unpack_gzip("text", "file"); }, "file: this is not a gzip file");
  CHECK(unpack_gzip(packed(std::string(1 << 20, 'x')), "file").size() == 1 << 20);  // a small file may be this large
  CHECK(unpack_gzip(packed(std::string(1 << 20, 'x')) + packed(""), "file").size() == 1 << 20);
  check_throws<FileError>([] { unpack_gzip(packed(std::string((1 << 20) + 1, 'x')), "file"); },
                          "file: the content is more than 100 times as large");
}

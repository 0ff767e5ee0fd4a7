#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/gzip.hpp>

#include <zlib.h>

#include <algorithm>

namespace xtape {

namespace {

constexpr std::size_t kLargestRatio = 100;
constexpr std::size_t kAlwaysAllowed = 1 << 20;
constexpr std::size_t kOnePass = std::size_t{1} << 30;  // zlib's sizes are unsigned int

struct Inflater {
  z_stream stream = {};
  int status = inflateInit2(&stream, 15 + 16);  // largest window, gzip header
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

bool is_gzip(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }

std::string unpack_gzip(std::string_view bytes, const std::string& name) {
  const auto fail = [&name](const std::string& what) { throw FileError("gzip", name + ": " + what); };
  if (!is_gzip(bytes)) fail("this is not a gzip file");
  const std::size_t most = std::max(kAlwaysAllowed, kLargestRatio * bytes.size());
  std::string out(std::min(most + 1, 4 * bytes.size() + 64), '\0');
  std::size_t size = 0;
  while (!bytes.empty()) {  // a gzip file may have several members
    Inflater inflater;
    if (inflater.status != Z_OK) fail("zlib cannot be started");
    z_stream& z = inflater.stream;
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (size == out.size()) out.resize(std::min(most + 1, 2 * size));
      const std::size_t given = std::min(bytes.size(), kOnePass), capacity = std::min(out.size() - size, kOnePass);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads there
      z.avail_in = static_cast<uInt>(given);
      z.next_out = reinterpret_cast<Bytef*>(out.data() + size);
      z.avail_out = static_cast<uInt>(capacity);
      status = inflate(&z, Z_NO_FLUSH);
      bytes.remove_prefix(given - z.avail_in);
      size += capacity - z.avail_out;
      if (size > most) fail("the content is more than " + std::to_string(kLargestRatio) + " times as large");
      if (status == Z_BUF_ERROR || (status == Z_OK && bytes.empty() && z.avail_out > 0)) fail("the file is cut");
      if (status != Z_OK && status != Z_STREAM_END)
        fail(std::string("the file is damaged: ") + (z.msg != nullptr ? z.msg : "it does not fit the format"));
    }
    if (bytes.find_first_not_of('\0') == bytes.npos) break;  // padding, as gzip itself ignores it
    if (!is_gzip(bytes)) fail(std::to_string(bytes.size()) + " bytes follow its end");
  }
  out.resize(size);
  return out;
}

std::string read_unpacked(const std::string& path) {
  std::string content = read_file(path);
  return is_gzip(content) ? unpack_gzip(content, path) : content;
}

}  // namespace xtape

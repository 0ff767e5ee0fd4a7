#include <xtape/core/error.hpp>
#include <xtape/data/gzip.hpp>
#include <xtape/data/idx.hpp>

#include <algorithm>
#include <limits>

namespace xtape {

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) { throw FileError("idx", name + ": " + what); }

std::optional<DType> type_of(unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0B:
      return DType::i16;
    case 0x0C:
      return DType::i32;
    case 0x0D:
      return DType::f32;
    case 0x0E:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

}  // namespace

IdxFile::IdxFile(const std::string& path) : IdxFile(read_unpacked(path), path) {}

IdxFile::IdxFile(std::string content, const std::string& name)
    : content_(std::move(content)), tensor_{name, {}, {}, {}} {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content_[i]); };
  if (content_.size() < 4 || byte(0) != 0 || byte(1) != 0) fail(name, "this is not an IDX file");
  const std::optional<DType> type = type_of(byte(2));
  if (!type) fail(name, "elements of type number " + std::to_string(byte(2)) + " are not known here");
  const std::size_t axes = byte(3), start = 4 + 4 * axes;
  if (content_.size() < start) fail(name, "the file ends in its header of " + std::to_string(axes) + " axes");
  std::vector<std::size_t> sizes(axes, 0);
  for (std::size_t i = 0; i < 4 * axes; ++i) sizes[i / 4] = sizes[i / 4] << 8 | byte(4 + i);
  const Shape shape(sizes.begin(), sizes.end());
  const std::size_t size = content_.size() - start;
  const auto wanted = stored_bytes(shape, *type, std::numeric_limits<std::size_t>::max());
  if (wanted != size)
    fail(name, expected_got((wanted ? std::to_string(*wanted) : "more than any file's") + " bytes for shape " +
                                shape_text(shape) + " after the header",
                            size));
  for (std::size_t i = start, step = dtype_size(*type); step > 1 && i < content_.size(); i += step)
    std::reverse(content_.data() + i, content_.data() + i + step);
  tensor_ = {name, *type, shape, std::string_view(content_).substr(start)};
}

}  // namespace xtape

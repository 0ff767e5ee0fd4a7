#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/npy.hpp>

#include <algorithm>
#include <charconv>

namespace xtape {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw FileError("npy", path + ": " + what); }

struct TypeName {
  std::string_view descr;  ///< without the byte order character
  DType dtype;
};

constexpr TypeName kTypes[] = {{"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},
                               {"i4", DType::i32}, {"i2", DType::i16}, {"i1", DType::i8},  {"u8", DType::u64},
                               {"u4", DType::u32}, {"u2", DType::u16}, {"u1", DType::u8},  {"b1", DType::boolean}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

/// Parses a dict literal strictly.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Header read() {
    Header header;
    bool seen[3] = {};
    const auto first = [&](int field) { return !std::exchange(seen[field], true); };
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && first(0)) header.descr = quoted();
      else if (key == "fortran_order" && first(1)) header.fortran_order = boolean();
      else if (key == "shape" && first(2)) header.shape = tuple();
      else bad("has the key '" + key + "' twice or does not know it");
      if (!accept(',') && !peek('}')) bad("is no Python dict");
    }
    if (skip_spaces(); !text_.empty()) bad("goes on after its end");
    if (!(seen[0] && seen[1] && seen[2])) bad("has not all of descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const { fail(path_, "the header " + what); }

  void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  bool peek(char c) {
    skip_spaces();
    return text_.starts_with(c);
  }

  bool accept(char c) {
    const bool there = peek(c);
    if (there) text_.remove_prefix(1);
    return there;
  }

  void expect(char c) {
    if (!accept(c)) bad(std::string("is no Python dict: a '") + c + "' is missing");
  }

  std::string quoted() {
    skip_spaces();
    const char quote = text_.empty() ? ' ' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : text_.npos;
    if (end == text_.npos) bad("has something else where a text in quotes should be");
    std::string out(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return out;
  }

  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"})
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    bad("has a fortran_order that is neither True nor False");
  }

  Shape tuple() {
    Shape sizes;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      index_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) bad("has a shape that is not a tuple of sizes");
      text_.remove_prefix(end - text_.data());
      sizes.push_back(size);
      if (!accept(',') && !peek(')')) bad("has a shape that is not a tuple of sizes");
    }
    return sizes;
  }

  const std::string& path_;
  std::string_view text_;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Reorders elements from column-major to row-major order.
std::string transposed(std::string_view bytes, const Shape& shape, index_t size) {
  std::string out;
  out.reserve(bytes.size());
  std::vector<index_t> steps(shape.rank()), index(shape.rank());
  for (index_t axis = 0, step = size; axis < shape.rank(); step *= shape[axis++]) steps[axis] = step;
  for (index_t place = 0; out.size() < bytes.size();) {
    out += bytes.substr(place, size);
    for (index_t axis = shape.rank(); axis-- > 0;) {  // next index; the last axis varies fastest
      place += steps[axis];
      if (++index[axis] < shape[axis]) break;
      place -= steps[axis] * std::exchange(index[axis], 0);
    }
  }
  return out;
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : content_(read_file(path)), tensor_{path, {}, {}, {}} {
  const std::string_view content = content_;
  if (content.starts_with("PK\x03\x04")) fail(path, "this is a zip archive (.npz), not an .npy file");
  if (!content.starts_with(kMagic) || content.size() < 10) fail(path, "this is not an .npy file");
  const int version = content[6];
  if (version < 1 || version > 3) fail(path, "format version " + std::to_string(version) + " is not known here");
  const std::size_t start = version == 1 ? 10 : 12;
  if (content.size() < start) fail(path, "the file ends in its header");
  const std::size_t length = little_endian(content.substr(8, start - 8));
  if (length > content.size() - start)
    fail(path, expected_got("a header within the file of " + std::to_string(content.size()) + " bytes", length));
  const Header header = HeaderReader(path, content.substr(start, length)).read();
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) {
    return header.descr.size() == 3 && header.descr.substr(1) == t.descr;
  });
  const char order = header.descr.empty() ? ' ' : header.descr[0];
  const bool one_byte = type != std::end(kTypes) && dtype_size(type->dtype) == 1;
  if (type == std::end(kTypes) || !(order == '<' || order == '>' || (order == '|' && one_byte)))
    fail(path, "elements of the type '" + header.descr + "' are not known here");
  const std::string_view data = content.substr(start + length);
  const std::size_t size = dtype_size(type->dtype);
  if (stored_bytes(header.shape, type->dtype, data.size()) != data.size())
    fail(path, expected_got("the bytes of shape " + shape_text(header.shape) + " and type '" + header.descr +
                                "' after the header",
                            data.size()));
  const bool column_major = header.fortran_order && header.shape.rank() > 1;
  if (column_major || order == '>') reordered_ = column_major ? transposed(data, header.shape, size) : data;
  if (order == '>')
    for (std::size_t i = 0; i < reordered_.size(); i += size)
      std::reverse(reordered_.data() + i, reordered_.data() + i + size);
  tensor_ = {path, type->dtype, header.shape, reordered_.empty() ? data : reordered_};
}

void write_npy(const std::string& path, const StoredTensor& tensor) {
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.dtype == tensor.dtype; });
  if (type == std::end(kTypes)) fail(path, "numpy has no type " + std::string(dtype_name(tensor.dtype)));
  std::string header = "{'descr': '" + std::string(dtype_size(tensor.dtype) == 1 ? "|" : "<") +
                       std::string(type->descr) + "', 'fortran_order': False, 'shape': (";
  for (index_t size : tensor.shape) header += std::to_string(size) + ", ";
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ') += '\n';  // the data begins at a multiple of 64
  if (header.size() > 65535) fail(path, "the shape has too many axes");
  std::string content(kMagic);
  content += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  write_file(path, (content + header).append(tensor.bytes));
}

}  // namespace xtape

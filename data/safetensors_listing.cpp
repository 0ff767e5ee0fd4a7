#include <xtape/core/error.hpp>
#include <xtape/data/safetensors.hpp>
#include <xtape/data/safetensors_listing.hpp>

#include <algorithm>

namespace xtape {

namespace {

constexpr std::size_t kLongestText = 120;

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (text.size() <= kLongestText) return text;
  std::size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // do not cut inside a UTF-8 character
  return text.substr(0, end) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

}  // namespace

std::string safetensors_listing(const std::string& path) {
  const SafetensorsFile file(path);
  std::size_t name_width = 4, type_width = 4, shape_width = 5, elements = 0, bytes = 0;
  for (const StoredTensor& tensor : file.tensors()) {
    name_width = std::max(name_width, on_one_line(tensor.name).size());
    type_width = std::max(type_width, dtype_name(tensor.dtype).size());
    shape_width = std::max(shape_width, shape_text(tensor.shape).size());
    elements += tensor.size();
    bytes += tensor.bytes.size();
  }
  const auto line = [&](const std::string& name, const std::string& type, const std::string& shape,
                        const std::string& count) {
    return padded(name, name_width + 2) + padded(type, type_width + 2) + padded(shape, shape_width + 2) + count + "\n";
  };
  std::string out = line("name", "type", "shape", "elements");
  for (const StoredTensor& tensor : file.tensors())
    out += line(on_one_line(tensor.name), std::string(dtype_name(tensor.dtype)), shape_text(tensor.shape),
                std::to_string(tensor.size()));
  out += std::to_string(file.tensors().size()) + " tensors, " + std::to_string(elements) + " elements, " +
         std::to_string(bytes) + " bytes of data; " +
         (file.has_checksum() ? "the checksum is right\n" : "the file has no checksum\n");
  for (const auto& [key, text] : file.metadata()) out += on_one_line(key) + ": " + on_one_line(text) + "\n";
  return out;
}

}  // namespace xtape

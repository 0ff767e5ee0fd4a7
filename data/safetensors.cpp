#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/safetensors.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace xtape {

using nlohmann::json;

namespace {

constexpr std::size_t kLargestHeader = 100'000'000;  // the limit of the format
constexpr const char* kMetadata = "__metadata__";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError("safetensors", path + ": " + what);
}

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

/// Parses JSON and rejects duplicate keys.
json parse_strictly(const std::string& path, std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > 4) fail(path, "the header is nested too deeply");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      repeated = parsed.get<std::string>();
    return true;
  };
  try {
    const ClassicNumbers classic;
    json header = json::parse(text, watch);
    if (!repeated.empty()) fail(path, "the header has the key " + in_quotes(repeated) + " twice");
    if (!header.is_object()) fail(path, "the header is not a JSON object");
    return header;
  } catch (const json::exception&) {
    fail(path, "the header is not JSON in UTF-8");
  }
}

/// The whole numbers of a JSON array.
std::vector<std::size_t> numbers(const std::string& path, const std::string& name, const json& tensor,
                                 const char* field) {
  const auto found = tensor.find(field);
  bool good = found != tensor.end() && found->is_array();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; good && i < found->size(); ++i) {
    good = (*found)[i].is_number_unsigned();
    if (good) out.push_back((*found)[i].get<std::size_t>());
  }
  if (!good) fail(path, std::string(field) + " of " + in_quotes(name) + " is not a list of whole numbers");
  return out;
}

StoredTensor read_tensor(const std::string& path, const std::string& name, const json& tensor, std::string_view data) {
  if (!tensor.is_object()) fail(path, in_quotes(name) + " is not described by a JSON object");
  const auto type = tensor.find("dtype");
  if (type == tensor.end() || !type->is_string()) fail(path, in_quotes(name) + " has no dtype");
  const std::optional<DType> dtype = dtype_named(type->get<std::string>());
  if (!dtype) fail(path, in_quotes(name) + " has the dtype " + type->get<std::string>() + ", which is not known here");
  const std::vector<std::size_t> sizes = numbers(path, name, tensor, "shape");
  const std::vector<std::size_t> offsets = numbers(path, name, tensor, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size())
    fail(path, expected_got("data_offsets of " + in_quotes(name) + " as a range within the " +
                                std::to_string(data.size()) + " bytes of data",
                            offsets));
  const Shape shape(sizes.begin(), sizes.end());
  const std::size_t size = offsets[1] - offsets[0];
  if (stored_bytes(shape, *dtype, data.size()) != size)
    fail(path, expected_got("the bytes of shape " + shape_text(sizes) + " and type " + type->get<std::string>() +
                                " in the data_offsets of " + in_quotes(name),
                            size));
  return {name, *dtype, shape, data.substr(offsets[0], size)};
}

std::string checksum(json header, std::string_view data) {
  if (const auto metadata = header.find(kMetadata); metadata != header.end()) metadata->erase(kChecksumKey);
  std::string text = header.dump();
  text += std::to_string(crc32(data));
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(crc32(text)));
  return digits;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), content_(read_file(path)) {
  const std::string_view content = content_;
  if (content.size() < 8) fail(path, expected_got("a header of at least 8 bytes", content.size()));
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(content[i]);
  if (length > content.size() - 8 || length > kLargestHeader)
    fail(path, expected_got("a header within the file of " + std::to_string(content.size()) + " bytes", length));
  read_header(content.substr(8, length), content.substr(8 + length));
  check_places(content.substr(8 + length));
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

void SafetensorsFile::read_header(std::string_view header, std::string_view data) {
  const json parsed = parse_strictly(path_, header);
  for (const auto& [name, value] : parsed.items()) {
    if (name != kMetadata) {
      tensors_.push_back(read_tensor(path_, name, value, data));
      continue;
    }
    if (!value.is_object()) fail(path_, "the metadata is not a JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(path_, "the metadata " + in_quotes(key) + " is not a text");
      metadata_.emplace(key, text.get<std::string>());
    }
  }
  if (has_checksum() && metadata_.at(kChecksumKey) != checksum(parsed, data))
    fail(path_, "the checksum does not match: the file is damaged");
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
}

/// Checks that each tensor begins where the one before it ends.
void SafetensorsFile::check_places(std::string_view data) const {
  const char* end = data.data();
  for (const StoredTensor& tensor : tensors_) {
    if (tensor.bytes.data() != end)
      fail(path_,
           in_quotes(tensor.name) + (tensor.bytes.data() < end ? " shares bytes with another tensor"
                                                               : " begins after bytes that belong to no tensor"));
    end += tensor.bytes.size();
  }
  if (const auto rest = data.data() + data.size() - end; rest != 0)
    fail(path_, std::to_string(rest) + " bytes at the end belong to no tensor");
}

void write_safetensors(const std::string& path, std::vector<StoredTensor> tensors, const Metadata& metadata) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return dtype_size(a.dtype) > dtype_size(b.dtype);
  });
  json header = json::object();
  std::string data;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.name == kMetadata || header.contains(tensor.name))
      fail(path, "a tensor cannot have the name " + in_quotes(tensor.name) + ": it is taken");
    header[tensor.name] = {{"dtype", dtype_name(tensor.dtype)},
                           {"shape", std::vector<index_t>(tensor.shape.begin(), tensor.shape.end())},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  header[kMetadata] = metadata;
  std::string text;
  try {
    header[kMetadata][kChecksumKey] = checksum(header, data);
    text = header.dump();
  } catch (const json::exception&) {
    fail(path, "a name or a metadata text is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data begins at a multiple of 8
  std::string content;
  content.reserve(8 + text.size() + data.size());
  for (int i = 0; i < 8; ++i) content += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
  write_file(path, content + text + data);
}

}  // namespace xtape

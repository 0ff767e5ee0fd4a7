#include "golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace xtape::test {

namespace {

std::vector<std::uint8_t> from_base64(const std::string& text) {
  static const std::array<int, 256> digits = [] {
    std::array<int, 256> out;
    out.fill(-1);
    const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < alphabet.size(); ++i)
      out[static_cast<unsigned char>(alphabet[i])] = static_cast<int>(i);
    return out;
  }();
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    if (c == '=') break;
    const int digit = digits[static_cast<unsigned char>(c)];
    if (digit < 0) throw FileError("golden", "not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> have));
  }
  return out;
}

/// Decodes little-endian numbers of type T to double.
template <class T>
std::vector<double> numbers_of(const std::string& text) {
  static_assert(std::endian::native == std::endian::little);
  const std::vector<std::uint8_t> bytes = from_base64(text);
  std::vector<double> out(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(number);
  }
  return out;
}

GoldenArray parsed(const std::string& section, const std::string& name, const nlohmann::ordered_json& json) {
  GoldenArray out{section, name, {}, {}};
  for (std::size_t size : json.at("shape")) out.shape.push_back(size);
  if (json.contains("int")) out.numbers = json["int"].get<std::vector<double>>();
  else if (json.contains("f32")) out.numbers = numbers_of<float>(json["f32"]);
  else out.numbers = numbers_of<double>(json.at("f64"));
  if (std::ssize(out.numbers) != element_count(out.shape))
    throw FileError("golden", name + " does not have as many numbers as its shape says");
  return out;
}

void read_file(const std::filesystem::path& path, std::map<std::string, GoldenValues>& out) {
  std::ifstream file(path);
  const auto json = nlohmann::ordered_json::parse(file);
  for (const auto& [name, sections] : json.items()) {
    GoldenValues values{name, {}};
    for (const auto& [section, arrays] : sections.items())
      for (const auto& [array, text] : arrays.items()) values.arrays.push_back(parsed(section, array, text));
    if (!out.emplace(name, std::move(values)).second) throw FileError("golden", "two cases are named " + name);
  }
}

template <class Container>
Container filled(const GoldenArray& from) {
  auto out = empty_array<Container>(from.shape);
  std::transform(from.numbers.begin(), from.numbers.end(), out.data(),
                 [](double x) { return static_cast<typename Container::value_type>(x); });
  return out;
}

/// Returns sum(up * out) over all outputs: the file holds its gradients.
Tensor weighted_sum(const Outputs& outputs, const GoldenValues& values) {
  const std::vector<const GoldenArray*> upstream = values.all("up");
  if (outputs.all.size() != upstream.size())
    throw ValueError(values.name, std::to_string(outputs.all.size()) + " outputs, but the file has " +
                                      std::to_string(upstream.size()));
  Tensor loss = Tensor::scalar(0);
  for (std::size_t i = 0; i < upstream.size(); ++i) loss = loss + sum(outputs.all[i] * Tensor(upstream[i]->array()));
  return loss;
}

}  // namespace

Array GoldenArray::array() const { return filled<Array>(*this); }
IndexArray GoldenArray::integers() const { return filled<IndexArray>(*this); }
Mask GoldenArray::mask() const { return filled<Mask>(*this); }

const GoldenArray* GoldenValues::find(std::string_view section, std::string_view array) const {
  for (const GoldenArray& entry : arrays)
    if (entry.section == section && entry.name == array) return &entry;
  return nullptr;
}

const GoldenArray& GoldenValues::get(std::string_view section, std::string_view array) const {
  if (const GoldenArray* found = find(section, array)) return *found;
  throw NameError(name, "the case has no " + std::string(section) + " array named " + std::string(array));
}

std::vector<const GoldenArray*> GoldenValues::all(std::string_view section) const {
  std::vector<const GoldenArray*> out;
  for (const GoldenArray& entry : arrays)
    if (entry.section == section) out.push_back(&entry);
  return out;
}

const std::map<std::string, GoldenValues>& golden_values() {
  static const std::map<std::string, GoldenValues> all = [] {
    std::map<std::string, GoldenValues> out;
    for (const auto& entry : std::filesystem::directory_iterator(XTAPE_SOURCE_DIR "/tests/golden/values"))
      read_file(entry.path(), out);
    return out;
  }();
  return all;
}

const GoldenValues& golden_values(const std::string& name) {
  const auto found = golden_values().find(name);
  if (found == golden_values().end()) throw NameError("golden", "no file has the case " + name);
  return found->second;
}

Tensor Golden::in(const std::string& name) {
  const auto found = inputs_.find(name);
  if (found != inputs_.end()) return found->second;
  return inputs_.emplace(name, tape_.variable(values_.get("in", name).array())).first->second;
}

void load_state(ParamStore& store, const GoldenValues& values) {
  for (Parameter parameter : store.parameters()) parameter.set_value(values.get("state", parameter.name()).array());
  for (Buffer buffer : store.buffers()) buffer.set_value(values.get("state", buffer.name()).array());
  for (const GoldenArray* entry : values.all("state"))
    if (!store.contains(entry->name)) throw NameError(values.name, "the layer has no " + entry->name);
}

void GoldenResult::compare(const Array& got, const GoldenArray& want, Scale scale) {
  const std::string what = want.section + " " + want.name;
  if (got.shape() != want.shape)
    throw ShapeError(what, "the golden value's shape " + shape_text(want.shape), got.shape());
  double largest = 1e-3;
  for (double x : want.numbers)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < want.numbers.size(); ++i) {
    const double x = static_cast<double>(got.data()[i]), y = want.numbers[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    double error = std::abs(x - y) / (scale == Scale::element && y != 0 ? std::abs(y) : largest);
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    if (error <= worst) continue;
    worst = error;
    where = what + " element " + std::to_string(i) + ": " + difference(x, y, {0, 0});
  }
}

GoldenResult run_golden(const GoldenCase& entry) {
  const GoldenValues& values = golden_values(entry.name);
  Golden golden(values);
  const Outputs outputs = entry.call(golden);
  GoldenResult result;
  for (const char* op : golden.tape().ops()) result.ops.insert(op);
  golden.tape().backward(weighted_sum(outputs, values));

  const auto compare = [&](const Array& got, const GoldenArray& want) {
    result.compare(got, want, entry.limits.scale);
  };
  const std::vector<const GoldenArray*> wanted = values.all("out");
  for (std::size_t i = 0; i < wanted.size(); ++i) compare(outputs.all[i].value(), *wanted[i]);
  for (const GoldenArray* grad : values.all("grad")) compare(golden.tape().grad(golden.in(grad->name)), *grad);
  for (const GoldenArray* grad : values.all("state_grad")) compare(golden.store().parameter(grad->name).grad(), *grad);
  for (const GoldenArray* buffer : values.all("state_out"))
    compare(golden.store().buffer(buffer->name).value(), *buffer);
  return result;
}

void check_golden(const GoldenTable& table) {
  for (const GoldenCase& entry : table) {
    const GoldenResult result = run_golden(entry);
    INFO(entry.name, ": error ", result.worst, ", limit ", entry.limits.here(), "; ", result.where);
    CHECK(result.worst <= entry.limits.here());
  }
}

}  // namespace xtape::test

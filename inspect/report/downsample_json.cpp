// Envelopes as JSON for the page.
#include <xtape/inspect/report/downsample.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

constexpr std::size_t kExactRows = 12;  // up to this number of rows are written as floats
constexpr double kLevels = 65530;       // of the 16-bit scale; the codes above have a meaning:
constexpr std::uint16_t kZero = 65533, kBroken = 65534, kAbsent = 65535;

void append(std::string& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string floats(const std::vector<double>& values) {
  std::string bytes;
  for (double x : values) append(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(x)), 4);
  return base64(bytes);
}

/// The range of log10 of the positive values.
struct Decades {
  double low = INFINITY, high = -INFINITY;

  void add(const std::vector<double>& values) {
    for (double x : values)
      if (x > 0 && std::isfinite(x)) {
        low = std::min(low, std::log10(x));
        high = std::max(high, std::log10(x));
      }
  }
};

std::string codes(const std::vector<double>& values, const Decades& range) {
  const double spread = range.high > range.low ? range.high - range.low : 1;
  std::string bytes;
  for (double x : values) {
    std::uint16_t code = kZero;
    if (std::isnan(x)) code = kAbsent;
    else if (std::isinf(x)) code = kBroken;
    else if (x > 0) code = static_cast<std::uint16_t>(std::lround((std::log10(x) - range.low) / spread * kLevels));
    append(bytes, code, 2);
  }
  return base64(bytes);
}

std::string counts(const std::vector<index_t>& values) {
  std::string bytes;
  for (index_t x : values) bytes += static_cast<char>(std::min<index_t>(x, 255));
  return base64(bytes);
}

}  // namespace

std::string base64(std::string_view bytes) {
  static const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
  }
  return out;
}

std::string envelope_json(const Envelope& bands) {
  nlohmann::ordered_json json = {{"rows", bands.rows}, {"buckets", bands.buckets}};
  const bool exact = bands.rows <= kExactRows;
  Decades range;
  if (!exact) {
    for (const std::vector<double>* values : {&bands.low, &bands.middle, &bands.high}) range.add(*values);
    json["from"] = std::isfinite(range.low) ? range.low : 0;
    json["decades"] = range.high > range.low ? (range.high - range.low) / kLevels : 1 / kLevels;
  }
  const auto text = [&](const std::vector<double>& values) { return exact ? floats(values) : codes(values, range); };
  const std::string low = text(bands.low), middle = text(bands.middle), high = text(bands.high);
  json["middle"] = middle;
  if (low != middle || high != middle) {  // otherwise each bucket holds one step
    json["low"] = low;
    json["high"] = high;
  }
  if (std::any_of(bands.broken.begin(), bands.broken.end(), [](index_t n) { return n > 0; }))
    json["broken"] = counts(bands.broken);
  return json.dump();
}

}  // namespace xtape

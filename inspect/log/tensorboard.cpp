#include <xtape/inspect/log/tensorboard.hpp>
#include <xtape/inspect/run/layer_names.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <map>

namespace xtape {

namespace {

constexpr std::size_t kMostLayers = 32;

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
    table[i] = crc;
  }
  return table;
}();

template <class T>
std::string little_endian(T value) {
  std::string out;
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::uint32_t masked(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

// Protocol buffers: each field is a key (field number and wire type) and its content.

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

enum class Wire { varint = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

std::string key(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}
std::string number_field(int field, double value) {
  return key(field, Wire::eight_bytes) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(int field, double value) {
  return key(field, Wire::four_bytes) + little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}
std::string integer_field(int field, index_t value) {
  return key(field, Wire::varint) + varint(static_cast<std::uint64_t>(value));
}
std::string bytes_field(int field, std::string_view content) {
  return key(field, Wire::bytes) + varint(content.size()) + std::string(content);
}
std::string packed_field(int field, const std::vector<double>& values) {
  std::string content;
  for (double value : values) content += little_endian(std::bit_cast<std::uint64_t>(value));
  return bytes_field(field, content);
}

/// tensorflow.Event: wall_time 1, step 2, file_version 3, summary 5.
std::string event(double seconds, const std::string& rest) { return number_field(1, seconds) + rest; }

/// tensorflow.Summary.Value: tag 1, simple_value 2, histo 5; of a Summary the field 1.
std::string scalar(const std::string& tag, double value) {
  return bytes_field(1, bytes_field(1, tag) + float_field(2, value));
}

/// tensorflow.HistogramProto: min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6, bucket 7. The values are
/// exponents.
std::string histogram(const std::string& tag, const Log2Histogram& h) {
  std::vector<double> limits = {static_cast<double>(h.low())}, counts = {0};
  double num = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < h.counts().size(); ++i) {
    const double low = h.low() + static_cast<double>(i), count = static_cast<double>(h.counts()[i]);
    limits.push_back(low + 1);
    counts.push_back(count);
    num += count;
    sum += count * (low + 0.5);
    squares += count * (low + 0.5) * (low + 0.5);
  }
  return bytes_field(1, bytes_field(1, tag) +
                            bytes_field(5, number_field(1, limits.front()) + number_field(2, limits.back()) +
                                               number_field(3, num) + number_field(4, sum) + number_field(5, squares) +
                                               packed_field(6, limits) + packed_field(7, counts)));
}

/// The parameters of one layer.
struct Group {
  double grad = 0, weight = 0, update = 0;  // joint norms
  std::map<int, index_t> counts = {};       // by exponent
};

Log2Histogram joined(const std::map<int, index_t>& counts) {
  const int low = counts.begin()->first;
  std::vector<index_t> dense(static_cast<std::size_t>(counts.rbegin()->first - low + 1));
  for (const auto& [exponent, count] : counts) dense[exponent - low] = count;
  return {low, std::move(dense)};
}

std::string group_values(const std::vector<ParameterStats>& parameters) {
  std::vector<std::string> names;
  for (const ParameterStats& p : parameters) names.push_back(p.name);
  names = layer_names(names, kMostLayers);
  std::map<std::string, Group> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Group& group = groups[names[i]];
    const ParameterStats& p = parameters[i];
    group.grad = std::hypot(group.grad, p.grad_norm);
    group.weight = std::hypot(group.weight, p.weight_norm);
    group.update = std::hypot(group.update, p.update_norm);
    for (std::size_t e = 0; e < p.grad_histogram.counts().size(); ++e)
      group.counts[p.grad_histogram.low() + static_cast<int>(e)] += p.grad_histogram.counts()[e];
  }
  std::string out;
  for (const auto& [name, group] : groups) {
    out += scalar("grad_norm_preclip/" + name, group.grad);
    out += scalar("update_ratio/" + name, group.update == 0 ? 0 : group.update / group.weight);
    if (!group.counts.empty()) out += histogram("grad_log2_preclip/" + name, joined(group.counts));
  }
  return out;
}

/// Output gradients of at most kMostLayers layers, evenly chosen, with the first and the last.
std::string layer_values(const std::vector<LayerStats>& layers) {
  const std::size_t shown = std::min(layers.size(), kMostLayers);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerStats& layer = layers[shown > 1 ? i * (layers.size() - 1) / (shown - 1) : 0];
    if (layer.output_grad_norm) out += scalar("output_grad_norm/" + layer.name, *layer.output_grad_norm);
  }
  return out;
}

/// The step of an event, its second field; -1 for the header, which has no step.
index_t step_of_event(std::string_view data) {
  const std::string before = event(0, key(2, Wire::varint));
  if (data.size() <= before.size() || data[before.size() - 1] != before.back()) return -1;
  std::uint64_t step = 0;
  int shift = 0;
  for (const char byte : data.substr(before.size(), 10)) {
    step |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
    shift += 7;
  }
  return static_cast<index_t>(step);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
  crc = ~crc;
  for (char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

std::string tensorboard_record(std::string_view data) {
  const std::string length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + little_endian(masked(length)) + std::string(data) + little_endian(masked(data));
}

std::string tensorboard_header(double seconds) {
  return tensorboard_record(event(seconds, bytes_field(3, "brain.Event:2")));
}

std::string tensorboard_step(const StepRecord& r, double seconds) {
  std::string summary = scalar("loss/train", r.loss);
  if (r.validation_loss) summary += scalar("loss/validation", *r.validation_loss);
  for (const auto& [name, value] : r.extra) summary += scalar("extra/" + name, value);
  summary += scalar("lr", r.lr) + scalar("grad_norm_preclip/all", r.grad_norm) + scalar("clip/factor", r.clip_factor);
  if (r.interval.steps > 0)
    summary += scalar("clip/share", static_cast<double>(r.interval.clipped) / static_cast<double>(r.interval.steps));
  if (r.wall.tokens_per_second) summary += scalar("wall/tokens_per_second", *r.wall.tokens_per_second);
  summary += group_values(r.parameters) + layer_values(r.layers);
  return tensorboard_record(event(seconds, integer_field(2, r.step) + bytes_field(5, summary)));
}

std::size_t tensorboard_size_before(index_t step, std::string_view content) {
  constexpr std::size_t around = 16;  // bytes of a record besides its data: the length and two checksums
  std::size_t size = 0;
  while (content.size() - size >= around) {
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(content[size + i]);
    if (length > content.size() - size - around) break;
    const std::string_view record = content.substr(size, length + around), data = record.substr(12, length);
    if (tensorboard_record(data) != record || step_of_event(data) >= step) break;
    size += record.size();
  }
  return size;
}

std::string tensorboard_file_name() {
  char host[256] = "host";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return run_folder::kTensorBoard + std::to_string(std::time(nullptr)) + "." + host + "." + std::to_string(getpid());
}

}  // namespace xtape

#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/record_fields.hpp>

#include <simdjson.h>
#include <concepts>
#include <limits>
#include <utility>

namespace xtape {

namespace {

using Element = simdjson::dom::element;

/// A value has another form than a record's.
struct WrongForm {};

double number_in(const Element& json) {
  if (json.is_number()) return json.get_double();
  const std::string_view text = json.get_string();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  throw WrongForm();
}

/// A whole number that fits into T.
template <std::integral T>
T integer_in(const Element& json) {
  if (json.is_uint64() && std::in_range<T>(json.get_uint64().value())) return static_cast<T>(json.get_uint64().value());
  if (json.is_int64() && std::in_range<T>(json.get_int64().value())) return static_cast<T>(json.get_int64().value());
  throw WrongForm();
}

/// What the records of a file share.
struct Shared {
  NameTable& names;
  RecordParser::Histograms histograms;
};

class Reader {
 public:
  Reader(const Element& json, const Shared& shared) : json_(json.get_object()), next_(json_.begin()), shared_(shared) {}

  void field(const char* key, double& value) {
    if (const auto at = find(key)) value = number_in(*at);
  }
  template <std::integral T>
  void field(const char* key, T& value) {
    if (const auto at = find(key)) value = integer_in<T>(*at);
  }
  void field(const char* key, std::string& value) {
    if (const auto at = find(key)) value = at->get_string().value();
  }
  void flag(const char* key, bool& value) {
    if (const auto at = find(key)) value = at->get_bool();
  }
  void numbers(const char* key, std::vector<std::pair<std::string, double>>& values) {
    if (const auto at = find(key))
      for (const auto& [name, x] : at->get_object()) values.emplace_back(name, number_in(x));
  }
  void field(const char* key, std::vector<double>& value) {
    if (const auto at = find(key)) read(*at, value, number_in);
  }
  template <class T>
  void field(const char* key, std::optional<T>& value) {
    if (find(key)) field(key, value.emplace());
  }
  template <class T>
  void field(const char* key, PackedOptional<T>& value) {
    T found{};
    if (!find(key)) return;
    field(key, found);
    value = found;
  }
  void histogram(Log2Histogram& value) {
    if (shared_.histograms == RecordParser::Histograms::drop) return;
    int low = 0;
    std::vector<index_t> counts;
    field("grad_log2_low_preclip", low);
    if (const auto at = find("grad_log2_counts_preclip")) read(*at, counts, integer_in<index_t>);
    value = {low, std::move(counts)};
  }
  template <class T>
  void filled(const char* key, T& value) {
    field(key, value);
  }
  template <class T>
  void object(const char* key, std::optional<T>& value) {
    if (find(key)) object(key, value.emplace());
  }
  template <class T>
  void object(const char* key, T& value) {
    if (const auto at = find(key)) {
      Reader reader(*at, shared_);
      fields(reader, value);
    }
  }
  template <class T>
  void named(const char* key, std::vector<T>& records) {
    const auto at = find(key);
    if (!at) return;
    const simdjson::dom::object object = at->get_object();
    records.reserve(object.size());
    for (const auto& [name, json] : object) {
      T& record = records.emplace_back();
      record.name = shared_.names.of(name);
      Reader reader(json, shared_);
      fields(reader, record);
    }
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& [key, value] : json_) out.emplace_back(key);
    return out;
  }

 private:
  /// The value of a key. Looks first behind the last one found: keys stand in the order in which they are asked for.
  std::optional<Element> find(std::string_view key) {
    for (auto at = next_; at != json_.end(); ++at)
      if (at.key_equals(key)) return (next_ = at).value();
    for (auto at = json_.begin(); at != next_; ++at)
      if (at.key_equals(key)) return (next_ = at).value();
    return std::nullopt;
  }

  template <class T>
  static void read(const Element& json, std::vector<T>& values, T (*value_in)(const Element&)) {
    const simdjson::dom::array array = json.get_array();
    values.clear();
    values.reserve(array.size());
    for (const Element x : array) values.push_back(value_in(x));
  }

  simdjson::dom::object json_;
  simdjson::dom::object::iterator next_;
  const Shared& shared_;
};

/// Parses a line, which may begin with a byte order mark. Returns nothing if it is no JSON object with a step.
std::optional<Element> parsed(simdjson::dom::parser& parser, std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  Element json;
  if (parser.parse(line.data(), line.size()).get(json) != simdjson::SUCCESS) return std::nullopt;
  if (!json.is_object() || json["step"].error() != simdjson::SUCCESS) return std::nullopt;
  return json;
}

template <class Record>
std::optional<Record> record_of(simdjson::dom::parser& parser, const Shared& shared, std::string_view line) {
  const std::optional<Element> json = parsed(parser, line);
  if (!json) return std::nullopt;
  try {
    if (integer_in<int>(json->at_key("format_version")) > kRunFormat) return std::nullopt;
    Record record;
    Reader reader(*json, shared);
    fields(reader, record);
    return record;
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;
  } catch (const WrongForm&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<IntervalStats> read_interval_json(std::string_view text) {
  simdjson::dom::parser parser;
  Element json;
  if (parser.parse(text.data(), text.size()).get(json) != simdjson::SUCCESS) return std::nullopt;
  try {
    IntervalStats numbers;
    NameTable names;
    const Shared shared{names, RecordParser::Histograms::keep};
    Reader reader(json, shared);
    fields(reader, numbers);
    return numbers;
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;
  } catch (const WrongForm&) {
    return std::nullopt;
  }
}

struct RecordParser::State {
  explicit State(Histograms which) : histograms(which) {}

  template <class Record>
  std::optional<Record> read(std::string_view line) {
    return record_of<Record>(parser, {names, histograms}, line);
  }

  simdjson::dom::parser parser;
  NameTable names;
  Histograms histograms;
};

RecordParser::RecordParser(Histograms histograms) : state_(std::make_unique<State>(histograms)) {}
RecordParser::~RecordParser() = default;

std::optional<StepRecord> RecordParser::step(std::string_view line) { return state_->read<StepRecord>(line); }
std::optional<EventRecord> RecordParser::event(std::string_view line) { return state_->read<EventRecord>(line); }

std::optional<StepRecord> read_metrics_line(std::string_view line) { return RecordParser().step(line); }
std::optional<EventRecord> read_event_line(std::string_view line) { return RecordParser().event(line); }

std::optional<index_t> step_of_json_line(std::string_view line) {
  constexpr index_t kCutOff = std::numeric_limits<index_t>::max();
  simdjson::dom::parser parser;
  const std::optional<Element> json = parsed(parser, line);
  std::string_view kind;
  std::int64_t step = 0;
  if (!json || (*json)["step"].get(step) != simdjson::SUCCESS) return kCutOff;
  const bool ends = (*json)["kind"].get(kind) == simdjson::SUCCESS && (kind == "finished" || kind == "stopped");
  return ends ? kCutOff : step;
}

}  // namespace xtape

#include <xtape/data/json.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/record_fields.hpp>

#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

namespace {

class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}

  void field(const char* key, double value) { json_[key] = json_number<Json>(value); }
  void field(const char* key, index_t value) { json_[key] = value; }
  void field(const char* key, int value) { json_[key] = value; }
  void field(const char* key, const std::string& value) { json_[key] = value; }
  void field(const char* key, const std::vector<index_t>& value) { json_[key] = value; }
  /// Left out if it is false.
  void flag(const char* key, bool value) {
    if (value) json_[key] = true;
  }
  /// Numbers by name, left out if there are none.
  void numbers(const char* key, const std::vector<std::pair<std::string, double>>& values) {
    if (values.empty()) return;
    Json& object = json_[key] = Json::object();
    for (const auto& [name, x] : values) object[name] = json_number<Json>(x);
  }
  void field(const char* key, const std::vector<double>& value) {
    Json& array = json_[key] = Json::array();
    for (double x : value) array.push_back(json_number<Json>(x));
  }
  template <class T>
  void field(const char* key, const std::optional<T>& value) {
    if (value) field(key, *value);
  }
  template <class T>
  void field(const char* key, const PackedOptional<T>& value) {
    if (value) field(key, *value);
  }
  void histogram(const Log2Histogram& value) {
    field("grad_log2_low_preclip", value.low());
    filled("grad_log2_counts_preclip", value.counts());
  }
  /// A text or list, left out if it is empty.
  template <class T>
  void filled(const char* key, const T& value) {
    if (!value.empty()) field(key, value);
  }
  template <class T>
  void object(const char* key, const std::optional<T>& value) {
    if (value) object(key, *value);
  }
  template <class T>
  void object(const char* key, const T& value) {
    Writer writer(json_[key] = Json::object());
    fields(writer, value);
  }
  /// Records as an object, each under its name, in order.
  template <class T>
  void named(const char* key, const std::vector<T>& records) {
    if (records.empty()) return;
    Json& object = json_[key] = Json::object();
    for (const T& record : records) {
      Writer writer(object[record.name.str()] = Json::object());
      fields(writer, record);
    }
  }

 private:
  Json& json_;
};

template <class Record>
std::string line_of(const Record& record) {
  Json json = {{"format_version", kRunFormat}};
  Writer writer(json);
  fields(writer, record);
  return json_text(json) + "\n";
}

}  // namespace

std::string metrics_line(const StepRecord& record) { return line_of(record); }
std::string event_line(const EventRecord& record) { return line_of(record); }

std::string interval_json(const IntervalStats& numbers) {
  Json json = Json::object();
  Writer writer(json);
  fields(writer, numbers);
  return json_text(json);
}

}  // namespace xtape

#include <xtape/data/json.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

using Json = nlohmann::ordered_json;

// Each type has one list of its fields, `fields(io, x)`, which both Writer and Reader use.

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
      Writer writer(object[record.name] = Json::object());
      fields(writer, record);
    }
  }

 private:
  Json& json_;
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  void field(const char* key, double& value) {
    if (const Json* at = find(key)) value = number_of(*at);
  }
  template <std::integral T>
  void field(const char* key, T& value) {
    if (const Json* at = find(key)) value = integer_of<T>(*at);
  }
  void field(const char* key, std::string& value) {
    if (const Json* at = find(key)) value = at->get<std::string>();
  }
  void field(const char* key, std::vector<index_t>& value) {
    if (const Json* at = find(key)) value = integers_of<index_t>(*at);
  }
  void flag(const char* key, bool& value) {
    if (const Json* at = find(key)) value = at->get<bool>();
  }
  void numbers(const char* key, std::vector<std::pair<std::string, double>>& values) {
    if (const Json* at = find(key))
      for (const auto& [name, x] : at->items()) values.emplace_back(name, number_of(x));
  }
  void field(const char* key, std::vector<double>& value) {
    const Json* at = find(key);
    if (!at) return;
    value.clear();
    for (const Json& x : *at) value.push_back(number_of(x));
  }
  template <class T>
  void field(const char* key, std::optional<T>& value) {
    if (find(key)) field(key, value.emplace());
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
    if (const Json* at = find(key)) {
      Reader reader(*at);
      fields(reader, value);
    }
  }
  template <class T>
  void named(const char* key, std::vector<T>& records) {
    const Json* at = find(key);
    if (!at) return;
    for (const auto& [name, json] : at->items()) {
      T& record = records.emplace_back();
      record.name = name;
      Reader reader(json);
      fields(reader, record);
    }
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& [key, value] : json_.items()) out.push_back(key);
    return out;
  }

 private:
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& json_;
};

template <class Record, class Wanted>
concept Like = std::is_same_v<std::remove_const_t<Record>, Wanted>;

template <class Io>
void fields(Io& io, Like<ParameterStats> auto& x) {
  io.field("grad_norm_preclip", x.grad_norm);
  io.field("grad_max_preclip", x.grad_max);
  io.field("grad_nonfinite_preclip", x.grad_nonfinite);
  io.field("grad_zero_share_preclip", x.grad_zero_share);
  if (x.grad_max) io.field("grad_log2_low_preclip", x.grad_histogram.low);
  io.filled("grad_log2_counts_preclip", x.grad_histogram.counts);
  io.field("weight_norm", x.weight_norm);
  io.field("update_norm", x.update_norm);
  io.field("update_ratio", x.update_ratio);
  io.field("decay_norm", x.decay_norm);
  io.field("lr_scale", x.lr_scale);
  io.field("equal_rows", x.equal_rows);
  io.field("untouched_rows", x.untouched_rows);
  io.flag("unoptimized", x.unoptimized);
}

template <class Io>
void fields(Io& io, Like<LayerStats> auto& x) {
  io.field("mean", x.mean);
  io.field("deviation", x.stddev);
  io.field("output_grad_norm", x.output_grad_norm);
  io.field("largest", x.largest);
}

template <class Io>
void fields(Io& io, Like<UnitStats> auto& x) {
  io.field("low", x.low);
  io.field("high", x.high);
  io.field("dead", x.dead);
  io.field("dead_lately", x.dead_lately);
  if (x.dead_lately) {
    io.field("batches", x.batches);
    io.field("rows", x.rows);
  }
}

template <class Io>
void fields(Io& io, Like<InputStats> auto& x) {
  io.field("mean", x.mean);
  io.field("deviation", x.stddev);
  io.field("low", x.low);
  io.field("high", x.high);
  io.field("nonfinite", x.nonfinite);
  io.field("repeats", x.repeats);
}

template <class Io>
void fields(Io& io, Like<OptimizerInfo> auto& x) {
  io.field("name", x.name);
  io.numbers("options", x.options);
}

// The keys of a recurrent layer are those of its streams.
void fields(Writer& io, const TimeStats& x) {
  for (const auto& [kind, norms] : x.kinds()) io.filled(kind.c_str(), *norms);
}
void fields(Reader& io, TimeStats& x) {
  for (const std::string& key : io.keys())
    if (std::vector<double>* norms = x.norms_of(key)) io.field(key.c_str(), *norms);
}

template <class Io>
void fields(Io& io, Like<AttentionStats> auto& x) {
  io.field("entropy", x.entropy);
  io.field("entropy_share", x.entropy_share);
  io.field("largest_logit", x.largest_logit);
}

template <class Io>
void fields(Io& io, Like<IntervalStats> auto& x) {
  io.field("steps", x.steps);
  io.field("clipped", x.clipped);
  io.field("skipped", x.skipped);
  io.field("still", x.still);
  io.field("loss_min", x.loss_min);
  io.field("loss_max", x.loss_max);
  io.field("grad_norm_preclip_min", x.grad_norm_min);
  io.field("grad_norm_preclip_max", x.grad_norm_max);
  io.field("grad_cosine_preclip", x.grad_cosine);
  io.field("cosines", x.cosines);
}

template <class Io>
void fields(Io& io, Like<Wall> auto& x) {
  io.field("seconds", x.seconds);
  io.field("memory_bytes", x.memory_bytes);
  io.field("tokens_per_second", x.tokens_per_second);
}

template <class Io>
void fields(Io& io, Like<StepRecord> auto& x) {
  io.field("step", x.step);
  io.field("loss", x.loss);
  io.field("validation_loss", x.validation_loss);
  io.field("lr", x.lr);
  io.field("grad_norm_preclip", x.grad_norm);
  io.field("clip_factor", x.clip_factor);
  io.field("loss_z", x.loss_z);
  io.field("grad_norm_z", x.grad_norm_z);
  io.field("classes", x.classes);
  io.field("targets", x.targets);
  io.field("dropout", x.dropout);
  io.flag("evaluation", x.evaluation);
  io.numbers("extra", x.extra);
  io.object("optimizer", x.optimizer);
  io.object("input", x.input);
  io.object("interval", x.interval);
  io.named("parameters", x.parameters);
  io.named("layers", x.layers);
  io.named("units", x.units);
  io.named("times", x.times);
  io.named("attention", x.attention);
  io.object("wall", x.wall);
}

template <class Io>
void fields(Io& io, Like<EventRecord> auto& x) {
  io.field("step", x.step);
  io.field("kind", x.kind);
  io.field("text", x.text);
  io.filled("layer", x.layer);
  io.filled("op", x.op);
  io.filled("file", x.file);
  io.field("value", x.value);
}

template <class Record>
std::string line_of(const Record& record) {
  Json json = {{"format_version", kRunFormat}};
  Writer writer(json);
  fields(writer, record);
  return json_text(json) + "\n";
}

template <class Record>
std::optional<Record> record_of(std::string_view line) {
  const Json json = parse_json<Json>(line);
  if (!json.is_object() || !json.contains("step")) return std::nullopt;
  try {
    if (integer_of<int>(json.at("format_version")) > kRunFormat) return std::nullopt;
    Record record;
    Reader reader(json);
    fields(reader, record);
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
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

std::optional<IntervalStats> read_interval_json(std::string_view text) {
  const Json json = parse_json<Json>(text);
  if (!json.is_object()) return std::nullopt;
  try {
    IntervalStats numbers;
    Reader reader(json);
    fields(reader, numbers);
    return numbers;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<StepRecord> read_metrics_line(std::string_view line) { return record_of<StepRecord>(line); }
std::optional<EventRecord> read_event_line(std::string_view line) { return record_of<EventRecord>(line); }

std::optional<index_t> step_of_json_line(std::string_view line) {
  const Json json = parse_json<Json>(line);
  const bool good = json.is_object() && json.contains("step") && holds_integer<index_t>(json["step"]) &&
                    json.value("kind", Json()) != "finished";
  return good ? json["step"].get<index_t>() : std::numeric_limits<index_t>::max();
}

}  // namespace xtape

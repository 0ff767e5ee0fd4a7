// Numbers and text in JSON, written and read. Templates over the JSON type keep this header light; Json is
// nlohmann::json or nlohmann::ordered_json.
#pragma once

#include <xtape/core/number_text.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// While it lives, the C library reads and writes numbers on this thread with a decimal point, whatever the locale.
class ClassicNumbers {
 public:
  ClassicNumbers();
  ~ClassicNumbers();
  ClassicNumbers(const ClassicNumbers&) = delete;
  ClassicNumbers& operator=(const ClassicNumbers&) = delete;

 private:
  void* before_;  // a locale_t
};

/// Parses a text, which may begin with a byte order mark. Returns a discarded value if the text is not JSON.
template <class Json>
Json parse_json(std::string_view text) {
  const ClassicNumbers classic;
  return Json::parse(text, nullptr, false);
}

/// The number, or one of the strings "NaN", "Inf" and "-Inf", since JSON has no such numbers.
template <class Json>
Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(number_text(value));
}

/// Reads a number that json_number wrote. Throws the JSON library's exceptions for anything else.
template <class Json>
double number_of(const Json& json) {
  if (json.is_number()) return json.template get<double>();
  const std::string text = json.template get<std::string>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  throw Json::type_error::create(302, "not a number: " + text, &json);
}

/// Whether a text is well-formed UTF-8.
bool is_utf8(std::string_view text);
/// The bytes with %XX for '%' and for all but printable ASCII, and back; nothing for a text that is not of this form.
std::string percent_encoded(std::string_view bytes);
std::optional<std::string> percent_decoded(std::string_view text);

/// Text that is read back byte for byte, such as the name of a file: a string, or {"bytes": "caf%E9.txt"} if it is not
/// UTF-8.
template <class Json>
Json json_bytes(const std::string& bytes) {
  return is_utf8(bytes) ? Json(bytes) : Json{{"bytes", percent_encoded(bytes)}};
}

/// Reads what json_bytes wrote; nothing for anything else.
template <class Json>
std::optional<std::string> find_bytes(const Json& json) {
  if (json.is_string()) return json.template get<std::string>();
  if (!json.is_object() || json.size() != 1 || !json.contains("bytes") || !json["bytes"].is_string())
    return std::nullopt;
  return percent_decoded(json["bytes"].template get<std::string>());
}

/// Reads what json_bytes wrote. Throws the JSON library's exceptions for anything else.
template <class Json>
std::string bytes_of(const Json& json) {
  if (std::optional<std::string> bytes = find_bytes(json)) return *std::move(bytes);
  throw Json::type_error::create(302, "neither a text nor percent-encoded bytes", &json);
}

/// Whether the value is a whole number that fits into T.
template <class T, class Json>
bool holds_integer(const Json& json) {
  if (json.is_number_unsigned()) return std::in_range<T>(json.template get<std::uint64_t>());
  return json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
}

/// A whole number that fits into T. Throws the JSON library's exceptions for anything else; the library itself would
/// truncate the value.
template <class T, class Json>
T integer_of(const Json& json) {
  if (!holds_integer<T>(json)) throw Json::type_error::create(302, "not a whole number within its limits", &json);
  return json.template get<T>();
}

/// An array of whole numbers. Throws as integer_of does.
template <class T, class Json>
std::vector<T> integers_of(const Json& json) {
  std::vector<T> out;
  for (const Json& number : json.template get_ref<const typename Json::array_t&>())
    out.push_back(integer_of<T>(number));
  return out;
}

/// An object whose values are whole numbers. Throws as integer_of does.
template <class T, class Json>
std::map<std::string, T> integers_by_name(const Json& json) {
  std::map<std::string, T> out;
  for (const auto& [name, number] : json.template get_ref<const typename Json::object_t&>())
    out.emplace(name, integer_of<T>(number));
  return out;
}

/// The JSON as text. Bytes that are not UTF-8 become U+FFFD; see json_bytes for what is read back.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Parses a text. Returns a discarded value if the text is not JSON or is nested more than 64 levels deep, because
/// writing it again is recursive.
template <class Json>
Json shallow_json(std::string_view text) {
  bool deep = false;
  const auto watch = [&deep](int depth, typename Json::parse_event_t, Json&) {
    deep = deep || depth > 64;
    return !deep;
  };
  const ClassicNumbers classic;
  Json json = Json::parse(text, watch, false);
  return deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace xtape

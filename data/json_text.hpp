// What all writers and readers of JSON in a run directory share. Templates over the JSON type, so that this header
// stays light; Json is nlohmann::ordered_json.
#pragma once

#include <xtape/inspect/run/run_json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace xtape {

/// The number, or one of the strings "NaN", "Inf", "-Inf".
template <class Json>
Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(number_text(value));
}

/// Text from outside may be any bytes; those that are not UTF-8 become U+FFFD.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The JSON of a text; a discarded value if it is none, or nested more than 64 deep: what is to be written again is
/// written by recursion, for which no stack is deep enough.
template <class Json>
Json shallow_json(std::string_view text) {
  bool deep = false;
  const auto watch = [&deep](int depth, typename Json::parse_event_t, Json&) {
    deep = deep || depth > 64;
    return !deep;
  };
  Json json = Json::parse(text, watch, false);
  return deep ? Json(Json::value_t::discarded) : json;
}

/// A number as json_number makes it; throws the library's exceptions for anything else.
template <class Json>
double number_of(const Json& json) {
  if (json.is_number()) return json.template get<double>();
  const std::string text = json.template get<std::string>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  throw Json::type_error::create(302, "not a number: " + text, &json);
}

}  // namespace xtape

// Whole numbers out of JSON that may be damaged. Templates over the JSON type, so that this header stays light.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace xtape {

/// True for a whole number that T can hold.
template <class T, class Json>
bool holds_integer(const Json& json) {
  if (json.is_number_unsigned()) return std::in_range<T>(json.template get<std::uint64_t>());
  return json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
}

/// That number; throws the library's exceptions for anything else, which the library itself would cut to fit.
template <class T, class Json>
T integer_of(const Json& json) {
  if (!holds_integer<T>(json)) throw Json::type_error::create(302, "not a whole number within its limits", &json);
  return json.template get<T>();
}

/// A list of them.
template <class T, class Json>
std::vector<T> integers_of(const Json& json) {
  std::vector<T> out;
  for (const Json& number : json.template get_ref<const typename Json::array_t&>())
    out.push_back(integer_of<T>(number));
  return out;
}

/// An object of them.
template <class T, class Json>
std::map<std::string, T> integers_by_name(const Json& json) {
  std::map<std::string, T> out;
  for (const auto& [name, number] : json.template get_ref<const typename Json::object_t&>())
    out.emplace(name, integer_of<T>(number));
  return out;
}

}  // namespace xtape

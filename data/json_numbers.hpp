// Whole numbers out of JSON that may be damaged. Templates over the JSON type, so that this header stays light.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace xtape {

/// A whole number that T can hold; throws the library's exceptions for anything else, which the library itself would
/// cut to fit.
template <class T, class Json>
T integer_of(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.template get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
  if (!fits) throw Json::type_error::create(302, "not a whole number within its limits", &json);
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

}  // namespace xtape

#include "sweep.hpp"

#include <xtape/core/error.hpp>
#include <xtape/data/json.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace xtape::examples {

using Json = nlohmann::ordered_json;

std::string results_json(const FinishedRun& run) {
  Json json = {{"format_version", 1}, {"arguments", Json::array()}, {"results", Json::object()}};
  for (const std::string& argument : run.arguments) json["arguments"].push_back(json_bytes<Json>(argument));
  for (const auto& [name, values] : run.results) {
    Json& list = json["results"][name] = Json::array();
    for (double value : values) list.push_back(json_number<Json>(value));
  }
  return json_text(json, 1) + "\n";
}

FinishedRun results_of_json(const std::string& text, const std::string& path) {
  try {
    const Json json = parse_json<Json>(text);
    if (json.at("format_version") != 1) throw FileError("sweep", path + " is of another version");
    FinishedRun out;
    for (const Json& argument : json.at("arguments")) out.arguments.push_back(bytes_of(argument));
    for (const auto& [name, list] : json.at("results").items())
      for (std::vector<double>& values = out.results[name]; const Json& value : list)
        values.push_back(number_of(value));
    return out;
  } catch (const Json::exception& error) {
    throw FileError("sweep", path + " is damaged: " + error.what());
  }
}

}  // namespace xtape::examples

#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/train/name_map.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace xtape {

namespace {

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.emplace_back(name.substr(begin, end - begin));
    if (end == name.size()) return parts;
    begin = end + 1;
  }
}

std::string with_dots(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ".") + part;
  return out;
}

}  // namespace

NameMap NameMap::load(const std::string& path) {
  const auto fail = [&path](const std::string& what) { throw FileError("name map", path + ": " + what); };
  const auto names = parse_json<nlohmann::ordered_json>(read_file(path));
  if (!names.is_object()) fail("this is not a JSON object of names");
  NameMap map;
  for (const auto& [foreign, ours] : names.items()) {
    if (!ours.is_string() && !ours.is_null()) fail("'" + foreign + "' maps to neither a name nor null");
    Rule rule{parts_of(foreign), {}};
    if (ours.is_string()) {
      rule.ours = parts_of(ours.get<std::string>());
      if (std::count(rule.ours->begin(), rule.ours->end(), "*") >
          std::count(rule.foreign.begin(), rule.foreign.end(), "*"))
        fail("'" + foreign + "' has fewer * than '" + ours.get<std::string>() + "'");
    }
    map.rules_.push_back(std::move(rule));
  }
  return map;
}

std::optional<std::string> NameMap::operator()(std::string_view foreign) const {
  const std::vector<std::string> parts = parts_of(foreign);
  for (const Rule& rule : rules_) {
    if (rule.foreign.size() > parts.size()) continue;
    std::vector<std::string> stars;
    bool matches = true;
    for (std::size_t i = 0; i < rule.foreign.size(); ++i)
      if (rule.foreign[i] == "*") stars.push_back(parts[i]);
      else matches = matches && rule.foreign[i] == parts[i];
    if (!matches) continue;
    if (!rule.ours) return std::nullopt;
    std::vector<std::string> ours = *rule.ours;
    std::size_t star = 0;
    for (std::string& part : ours)
      if (part == "*") part = stars[star++];
    ours.insert(ours.end(), parts.begin() + static_cast<std::ptrdiff_t>(rule.foreign.size()), parts.end());
    return with_dots(ours);
  }
  return std::string(foreign);
}

}  // namespace xtape

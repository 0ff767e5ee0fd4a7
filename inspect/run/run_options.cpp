#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/run/run_options.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape {

using nlohmann::json;

std::vector<std::pair<std::string, std::string>> options_of_run(const std::string& directory,
                                                                const std::string& program) {
  const auto fail = [](const std::string& what) { throw FileError("resume", what); };
  const std::string path = directory + "/run.json";
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) fail("there is no directory '" + directory + "'");
  if (!std::filesystem::exists(path, error)) fail(directory + " has no run.json: it is not the directory of a run");
  const json run = json::parse(read_file(path), nullptr, false);
  const auto options = run.find("options");  // of what is no object: none
  if (!run.is_object() || options == run.end() || !options->is_object()) fail(path + " is damaged");
  const std::string made_by = run.value("program", json()).is_string() ? run["program"].get<std::string>() : "";
  if (made_by != program) fail(directory + " is a run of the program '" + made_by + "', not of " + program);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : options->items()) {
    if (value.is_boolean()) out.emplace_back(name, value.get<bool>() ? "true" : "");
    else if (value.is_string()) out.emplace_back(name, value.get<std::string>());
    else if (value.is_number()) out.emplace_back(name, value.dump());
    else fail(path + " is damaged: the option " + name + " has no value");
  }
  return out;
}

}  // namespace xtape

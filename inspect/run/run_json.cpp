#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/run/machine.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

std::string run_json(const RunInfo& info) {
  Json options = Json::object();
  for (const auto& [name, value] : info.description.options)
    options[name] = std::visit(
        [](const auto& v) -> Json {
          using Value = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<Value, double>) return json_number<Json>(v);
          else if constexpr (std::is_same_v<Value, std::string>) return json_bytes<Json>(v);
          else return v;
        },
        value);
  Json json = {{"format_version", kRunFormat},
               {"program", info.description.program},
               {"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
               {"options", options},
               {"seed", info.description.seed},
               {"parameters", info.parameters},
               {"version", version()},
               {"flavour", info.dtype},
               {"compiler", compiler()},
               {"cpu", cpu_name()},
               {"isa", info.isa},
               {"blas", info.blas},
               {"threads", info.threads}};
  for (const ParameterInfo& p : info.layout)
    json["layout"].push_back({{"name", p.name}, {"shape", p.shape}, {"trainable", p.trainable}});
  return json_text(json, 2) + "\n";
}

std::string resumed_run_json(const std::string& before, const RunInfo& info) {
  Json json = shallow_json<Json>(before);
  const bool whole = json.is_object() && json.contains("options") && json["options"].is_object();
  if (!whole || (json.contains("resumed") && !json["resumed"].is_array()))
    throw FileError("run_log", std::string(run_folder::kRun) + " is damaged");
  json["options"]["steps"] = info.description.steps;
  json["resumed"].push_back({{"started", utc_time("%Y-%m-%dT%H:%M:%SZ")},
                             {"version", version()},
                             {"cpu", cpu_name()},
                             {"isa", info.isa},
                             {"blas", info.blas},
                             {"threads", info.threads}});
  return json_text(json, 2) + "\n";
}

std::vector<std::pair<std::string, std::string>> options_of_run(const std::string& directory,
                                                                const std::string& program) {
  const auto fail = [](const std::string& what) { throw FileError("resume", what); };
  const std::string path = directory + "/" + run_folder::kRun;
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) fail("there is no directory '" + directory + "'");
  if (!std::filesystem::exists(path, error))
    fail(directory + " has no " + run_folder::kRun + ": it is not the directory of a run");
  const nlohmann::json run = parse_json<nlohmann::json>(read_file(path));
  const auto options = run.find("options");
  if (!run.is_object() || options == run.end() || !options->is_object()) fail(path + " is damaged");
  const std::string made_by =
      run.value("program", nlohmann::json()).is_string() ? run["program"].get<std::string>() : "";
  if (made_by != program)
    fail(directory + ": " + expected_got("a run of the program " + program, "one of '" + made_by + "'"));
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : options->items()) {
    if (value.is_boolean()) out.emplace_back(name, value.get<bool>() ? "true" : "");
    else if (const auto text = find_bytes(value)) out.emplace_back(name, *text);
    else if (value.is_number()) out.emplace_back(name, value.dump());
    else fail(path + " is damaged: the option " + name + " has no value");
  }
  return out;
}

}  // namespace xtape

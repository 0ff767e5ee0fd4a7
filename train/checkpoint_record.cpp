#include <xtape/core/error.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/train/checkpoint_record.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace xtape {

using nlohmann::json;

namespace {

constexpr std::string_view kPrefix = run_folder::kStepPrefix, kSuffix = ".safetensors";

json random_json(const RandomPosition& position) {
  json out = {{"block", position.block}, {"left", position.left}};
  if (position.spare) out["spare"] = json_number<json>(*position.spare);
  return out;
}

RandomPosition read_random(const json& position) {
  RandomPosition out{integer_of<std::uint64_t>(position.at("block")), integer_of<int>(position.at("left")), {}};
  if (position.contains("spare")) out.spare = number_of(position["spare"]);
  return out;
}

}  // namespace

std::string checkpoint_json(const CheckpointRecord& record) {
  json out = {{"format_version", kCheckpointFormat},
              {"version", XTAPE_VERSION},
              {"step", record.step},
              {"seed", record.seed},
              {"flavour", record.dtype},
              {"masks", record.masks},
              {"optimizer", record.optimizer},
              {"optimizer_options", json::object()},
              {"optimizer_steps", record.optimizer_steps},
              {"tensors", record.tensors},
              {"states", json::object()},
              {"randoms", json::object()}};
  for (const auto& [name, position] : record.randoms) out["randoms"][name] = random_json(position);
  for (const auto& [name, value] : record.optimizer_options) out["optimizer_options"][name] = json_number<json>(value);
  for (const auto& [name, state] : record.states) out["states"][name] = json_bytes<json>(state);
  if (record.best_loss) out["best_loss"] = json_number<json>(*record.best_loss);
  return out.dump();
}

CheckpointRecord read_checkpoint_json(const std::string& path, const std::string& text) {
  try {
    const json in = parse_json<json>(text);
    if (const int format = integer_of<int>(in.at("format_version")); format > kCheckpointFormat)
      throw FileError("checkpoint", path + " has format version " + std::to_string(format) +
                                        ", made by a later version of this library");
    CheckpointRecord out{.step = integer_of<index_t>(in.at("step")),
                         .seed = integer_of<std::uint64_t>(in.at("seed")),
                         .dtype = in.at("flavour"),
                         .masks = integers_by_name<std::uint64_t>(in.at("masks")),
                         .optimizer = in.at("optimizer"),
                         .optimizer_options = {},
                         .optimizer_steps = integers_by_name<std::int64_t>(in.at("optimizer_steps")),
                         .tensors = integers_by_name<std::size_t>(in.at("tensors")),
                         .randoms = {},
                         .states = {}};
    for (const auto& [name, position] : in.at("randoms").items()) out.randoms.emplace(name, read_random(position));
    for (const auto& [name, value] : in.at("optimizer_options").items())
      out.optimizer_options.emplace(name, number_of(value));
    for (const auto& [name, state] : in.at("states").items()) out.states.emplace(name, bytes_of(state));
    // Version 0.1.0 wrote null for minus infinity, the only loss that is not finite and lower than another.
    if (const auto best = in.find("best_loss"); best != in.end())
      out.best_loss = best->is_null() ? -std::numeric_limits<double>::infinity() : number_of(*best);
    return out;
  } catch (const json::exception&) {
    throw FileError("checkpoint", path + ": its record is damaged");
  }
}

std::string checkpoint_path(const std::string& directory, index_t step) {
  return directory + "/" + run_folder::step_file(step, kSuffix.data());
}

std::vector<index_t> checkpoint_steps(const std::string& directory) {
  std::vector<index_t> steps;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const char* const end = name.data() + name.size() - kSuffix.size();
    index_t step = 0;
    const auto [stopped, failed] = std::from_chars(name.data() + kPrefix.size(), end, step);
    if (failed == std::errc() && stopped == end && step >= 0) steps.push_back(step);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw FileError("checkpoint", directory + ": " + error.message());
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

}  // namespace xtape

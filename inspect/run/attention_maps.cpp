#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/npy.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape {

namespace fs = std::filesystem;

namespace {

constexpr index_t kMostWeights = 1 << 18;  // of a step; more would make the page too large
constexpr const char* kExtension = ".npy";

/// Steps of the files step_N.npy.
std::vector<index_t> steps_of(const fs::path& directory) {
  std::vector<index_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(run_folder::kStepPrefix) || !name.ends_with(kExtension)) continue;
    index_t step = 0;
    const char *begin = name.data() + std::strlen(run_folder::kStepPrefix),
               *end = name.data() + name.size() - std::strlen(kExtension);
    if (const auto [rest, failed] = std::from_chars(begin, end, step); failed == std::errc() && rest == end)
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// At most `most` steps, evenly chosen, with the first and the last.
std::vector<index_t> thinned(const std::vector<index_t>& steps, std::size_t most) {
  if (steps.size() <= most) return steps;
  std::vector<index_t> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
  return out;
}

void read_step(const std::string& path, index_t step, AttentionMaps& maps) {
  const NpyFile file(path);
  const StoredTensor& tensor = file.tensor();
  if (tensor.shape.rank() != 4 || tensor.size() == 0 || tensor.size() > kMostWeights)
    throw FileError("attention", path + ": " +
                                     expected_got("[layers, heads, queries, keys] of at most " +
                                                      std::to_string(kMostWeights) + " weights",
                                                  tensor.shape));
  const Shape &shape = tensor.shape, before = {maps.layers, maps.heads, maps.queries, maps.keys};
  if (maps.steps.empty()) {
    maps.layers = shape[0];
    maps.heads = shape[1];
    maps.queries = shape[2];
    maps.keys = shape[3];
  } else if (shape != before) {
    throw FileError("attention",
                    path + ": " + expected_got("the shape of the steps before, " + shape_text(before), shape));
  }
  AttentionMap map{step, std::vector<double>(tensor.size())};
  read_values(tensor, map.weights.data());
  maps.steps.push_back(std::move(map));
}

}  // namespace

void save_attention(const std::string& directory, index_t step, const std::vector<std::string>& tokens,
                    const StoredTensor& weights) {
  const std::string folder = directory + "/" + run_folder::kAttention;
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) throw FileError("run_log", folder + ": " + error.message());
  write_npy(folder + "/" + run_folder::step_file(step, kExtension), weights);
  write_file(folder + "/" + run_folder::kTokens, json_text(nlohmann::ordered_json(tokens)) + "\n");
}

AttentionMaps read_attention(const std::string& directory, std::size_t most) {
  AttentionMaps maps;
  const fs::path folder = fs::path(directory) / run_folder::kAttention;
  for (index_t step : thinned(steps_of(folder), most)) try {
      read_step(folder / run_folder::step_file(step, kExtension), step, maps);
    } catch (const Error& error) {
      maps.warnings.push_back(error.what());
    }
  if (!maps.any()) return maps;
  try {
    maps.tokens = parse_json<nlohmann::json>(read_file(folder / run_folder::kTokens)).get<std::vector<std::string>>();
  } catch (const std::exception&) {
    maps.warnings.push_back(std::string(run_folder::kAttention) + "/" + run_folder::kTokens +
                            " cannot be read: positions are shown as numbers");
  }
  for (index_t i = std::ssize(maps.tokens); i < std::max(maps.queries, maps.keys); ++i)
    maps.tokens.push_back(std::to_string(i));
  return maps;
}

std::vector<double> entropy_shares(const AttentionMaps& maps, const AttentionMap& map) {
  const auto at = [&](index_t head, index_t q, index_t k) {
    return map.weights[(head * maps.queries + q) * maps.keys + k];
  };
  const index_t heads = maps.layers * maps.heads;
  bool causal = maps.queries == maps.keys;
  for (index_t h = 0; h < heads; ++h)
    for (index_t q = 0; q < maps.queries; ++q)
      for (index_t k = q + 1; k < maps.keys; ++k) causal = causal && at(h, q, k) == 0;
  std::vector<double> out;
  for (index_t h = 0; h < heads; ++h) {
    double sum = 0;
    index_t count = 0;
    for (index_t q = causal ? 1 : 0; q < maps.queries; ++q) {
      const index_t visible = causal ? q + 1 : maps.keys;
      if (visible < 2) continue;
      double entropy = 0;
      for (index_t k = 0; k < visible; ++k)
        if (const double p = at(h, q, k); p > 0) entropy -= p * std::log(p);
      sum += entropy / std::log(static_cast<double>(visible));
      ++count;
    }
    out.push_back(count > 0 ? sum / static_cast<double>(count) : 0);
  }
  return out;
}

}  // namespace xtape

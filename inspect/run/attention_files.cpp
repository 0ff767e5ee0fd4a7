#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json_text.hpp>
#include <xtape/data/npy.hpp>
#include <xtape/inspect/run/attention_files.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape {

void save_attention(const std::string& directory, index_t step, const std::vector<std::string>& tokens,
                    const StoredTensor& weights) {
  const std::string folder = directory + "/attention";
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) throw FileError("run_log", folder + ": " + error.message());
  write_npy(folder + "/step_" + std::to_string(step) + ".npy", weights);
  write_file(folder + "/tokens.json", json_text(nlohmann::ordered_json(tokens)) + "\n");
}

}  // namespace xtape

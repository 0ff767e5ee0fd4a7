// The record in a checkpoint's metadata, and the names of checkpoint files.
#pragma once

#include <xtape/core/random.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// Raise it for changes that older readers cannot read.
constexpr int kCheckpointFormat = 1;

/// The metadata key of the record.
constexpr const char* kCheckpointKey = "xtape.checkpoint";

struct CheckpointRecord {
  index_t step = 0;  ///< the next step, that is the number of steps done
  std::uint64_t seed = 0;
  std::string dtype = {};                           ///< "f32" or "f64"
  std::map<std::string, std::uint64_t> masks = {};  ///< call counters of the random masks, by scope
  std::string optimizer = {};
  std::map<std::string, double> optimizer_options = {};
  std::map<std::string, std::int64_t> optimizer_steps = {};  ///< by parameter
  std::map<std::string, std::size_t> tensors = {};           ///< number of carried tensors by name
  std::map<std::string, RandomPosition> randoms = {};        ///< carried streams
  std::map<std::string, std::string> states = {};            ///< carried objects
  std::optional<double> best_loss = {};                      ///< the lowest validation loss so far
};

/// The record as JSON, with the versions of the format and the library.
std::string checkpoint_json(const CheckpointRecord& record);
/// Throws FileError, which names `path`, if the text is not a record or has a newer format.
CheckpointRecord read_checkpoint_json(const std::string& path, const std::string& text);

/// The path of the checkpoint of a step.
std::string checkpoint_path(const std::string& directory, index_t step);
/// The steps of the checkpoints in a directory, the newest first. Files that a killed process left incomplete are not
/// listed. Empty if there is no such directory.
std::vector<index_t> checkpoint_steps(const std::string& directory);

}  // namespace xtape

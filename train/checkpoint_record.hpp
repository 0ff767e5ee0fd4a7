// What a checkpoint holds besides tensors, and the names of checkpoint files.
#pragma once

#include <xtape/core/random.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// A change that older readers cannot read raises it.
constexpr int kCheckpointFormat = 1;

/// The metadata key of the record.
constexpr const char* kCheckpointKey = "xtape.checkpoint";

struct CheckpointRecord {
  index_t step = 0;  ///< the step that comes next: how many are done
  std::uint64_t seed = 0;
  std::string dtype = {};                           ///< "f32" or "f64"
  std::map<std::string, std::uint64_t> masks = {};  ///< call counters of the random masks, by scope
  std::string optimizer = {};
  std::map<std::string, double> optimizer_options = {};
  std::map<std::string, std::int64_t> optimizer_steps = {};  ///< by parameter
  std::map<std::string, std::size_t> tensors = {};           ///< how many are carried under each name
  std::map<std::string, RandomPosition> randoms = {};        ///< carried streams
  std::map<std::string, std::string> states = {};            ///< carried objects
  std::optional<double> best_loss = {};                      ///< the lowest validation loss so far
};

/// JSON, with the versions of format and library added.
std::string checkpoint_json(const CheckpointRecord& record);
/// Throws FileError, naming `path`, for text that is no record or is one of a later format.
CheckpointRecord read_checkpoint_json(const std::string& path, const std::string& text);

/// Path of the checkpoint of a step in a directory.
std::string checkpoint_path(const std::string& directory, index_t step);
/// The steps of the checkpoints in a directory, newest first; those that a killed process left half-written are not
/// among them. Nothing if there is no such directory.
std::vector<index_t> checkpoint_steps(const std::string& directory);

}  // namespace xtape

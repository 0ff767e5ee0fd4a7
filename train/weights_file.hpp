// Weights in safetensors files, under the names and in the layouts of PyTorch's state_dict.
#pragma once

#include <xtape/core/param_store.hpp>
#include <xtape/data/safetensors.hpp>
#include <xtape/train/mismatches.hpp>
#include <xtape/train/name_map.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Writes the values of all parameters and buffers. A tied parameter is stored once, under its first name; the metadata
/// has
/// {"second name": "first name"}, as the tools of safetensors write it. Throws FileError; an existing file is then
/// unchanged.
void save_weights(const std::string& path, const ParamStore& store, const Metadata& metadata = {});

/// Loads all values from a file, which may be a checkpoint or come from another program. Values are converted as
/// read_values does; `names` translates the names. Throws FileError for a damaged file, MismatchError with all
/// differences for one that does not fit; nothing is changed then.
void load_weights(const std::string& path, ParamStore& store, const NameMap& names = {});

/// Loads all values from a file in memory.
void load_weights(const SafetensorsFile& file, ParamStore& store, const NameMap& names = {});

/// The tensors of a file under our names, without those that the name map leaves out and those of a checkpoint's other
/// state. A tied tensor is listed under each of its names. Throws FileError if two tensors get the same name.
std::vector<StoredTensor> named_weights(const SafetensorsFile& file, const NameMap& names = {});

/// The shapes of tensors by name, from which a model's configuration is derived.
std::map<std::string, Shape> shapes_of(const std::vector<StoredTensor>& tensors);

/// The values of a store taken from tensors. Adds everything that does not fit to `mismatches`.
Snapshot fitting_values(const ParamStore& store, const std::vector<StoredTensor>& tensors, Mismatches& mismatches);

/// The values of a store as tensors that point into the store. Tied parameters are listed once.
std::vector<StoredTensor> stored_values(const ParamStore& store);
/// Maps the second name of each tied parameter to its first name.
Metadata ties_of(const ParamStore& store);

/// Prefixes of names in a checkpoint that are not weights.
constexpr const char* kOptimizerPrefix = "optimizer/";
constexpr const char* kCarriedPrefix = "carried/";

}  // namespace xtape::inline XTAPE_DTYPE

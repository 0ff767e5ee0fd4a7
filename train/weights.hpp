// Weights in safetensors files, under the names and in the layouts of PyTorch's state_dict.
#pragma once

#include <xtape/core/param_store.hpp>
#include <xtape/data/safetensors.hpp>
#include <xtape/train/mismatches.hpp>
#include <xtape/train/name_map.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Writes the values of all parameters and buffers. A tied parameter is stored once, under its first name; the metadata
/// say, as safetensors' own tools do, {"second name": "first name"}. Throws FileError, and leaves a file that was there
/// as it was.
void save_weights(const std::string& path, const ParamStore& store, const Metadata& metadata = {});

/// Takes all values from a file, made here or elsewhere, converted with the care of read_values; `names` says what the
/// names in the file mean. A checkpoint is a file of weights too. Everything is checked before anything is changed:
/// throws FileError for a file that is not sound, MismatchError with all differences for one that does not fit.
void load_weights(const std::string& path, ParamStore& store, const NameMap& names = {});

/// The same from a file that is read already.
void load_weights(const SafetensorsFile& file, ParamStore& store, const NameMap& names = {});

/// The tensors of a file under our names; those that a name map leaves out, and what belongs to a checkpoint only, are
/// not among them. A tied one stands there under each of its names. Throws FileError if two get one name.
std::vector<StoredTensor> named_weights(const SafetensorsFile& file, const NameMap& names = {});

/// The shapes of these tensors by name, to choose a model's sizes by.
std::map<std::string, Shape> shapes_of(const std::vector<StoredTensor>& tensors);

/// What tensors make of a store's values. Notes all that does not fit.
Snapshot fitting_values(const ParamStore& store, const std::vector<StoredTensor>& tensors, Mismatches& mismatches);

/// The values of a store as tensors, tied ones once; they point into the store.
std::vector<StoredTensor> stored_values(const ParamStore& store);
/// Second name -> first name of each tied parameter.
Metadata ties_of(const ParamStore& store);

/// Names in a checkpoint that begin so are not weights.
constexpr const char* kOptimizerPrefix = "optimizer/";
constexpr const char* kCarriedPrefix = "carried/";

}  // namespace xtape::inline XTAPE_DTYPE

#include <xtape/core/error.hpp>
#include <xtape/train/weights_file.hpp>

#include <algorithm>
#include <set>

namespace xtape::inline XTAPE_DTYPE {

namespace {

bool only_of_checkpoints(const std::string& name) {
  return name.starts_with(kOptimizerPrefix) || name.starts_with(kCarriedPrefix);
}

/// Appends the tensor of a name, converted, if it has the expected shape; otherwise reports the mismatch.
template <class Values>
void fit(const std::string& name, const Shape& wanted, const std::map<std::string, const StoredTensor*>& given,
         std::vector<std::pair<std::string, Values>>& out, Mismatches& mismatches) {
  const auto found = given.find(name);
  if (found == given.end()) return mismatches.missing(name);
  const StoredTensor& tensor = *found->second;
  if (tensor.shape != wanted) return mismatches.shape(name, tensor.shape, wanted);
  try {
    if constexpr (std::is_same_v<Values, Array>) out.emplace_back(name, to_array(tensor));
    else out.emplace_back(name, to_indices(tensor));
  } catch (const FileError& error) {
    mismatches.other(error.what());
  }
}

}  // namespace

void save_weights(const std::string& path, const ParamStore& store, const Metadata& metadata) {
  Metadata all = metadata;
  all.merge(ties_of(store));
  write_safetensors(path, stored_values(store), all);
}

void load_weights(const std::string& path, ParamStore& store, const NameMap& names) {
  load_weights(SafetensorsFile(path), store, names);
}

void load_weights(const SafetensorsFile& file, ParamStore& store, const NameMap& names) {
  Mismatches mismatches;
  const Snapshot values = fitting_values(store, named_weights(file, names), mismatches);
  mismatches.raise("load_weights", file.path());
  store.restore(values);
}

std::vector<StoredTensor> named_weights(const SafetensorsFile& file, const NameMap& names) {
  std::vector<StoredTensor> out;
  std::set<std::string> taken;
  const auto add = [&](const StoredTensor& tensor, const std::string& foreign) {
    const std::optional<std::string> name = names(foreign);
    if (!name) return;
    if (!taken.insert(*name).second)
      throw FileError("load_weights", file.path() + ": two tensors get the name '" + *name + "'");
    out.push_back(tensor);
    out.back().name = *name;
  };
  for (const StoredTensor& tensor : file.tensors())
    if (!only_of_checkpoints(tensor.name)) add(tensor, tensor.name);
  for (const auto& [second, first] : file.metadata())
    if (const StoredTensor* tensor = file.find(first); tensor && !file.find(second)) add(*tensor, second);
  return out;
}

std::map<std::string, Shape> shapes_of(const std::vector<StoredTensor>& tensors) {
  std::map<std::string, Shape> out;
  for (const StoredTensor& tensor : tensors) out.emplace(tensor.name, tensor.shape);
  return out;
}

Snapshot fitting_values(const ParamStore& store, const std::vector<StoredTensor>& tensors, Mismatches& mismatches) {
  std::map<std::string, const StoredTensor*> given;
  for (const StoredTensor& tensor : tensors) given.emplace(tensor.name, &tensor);
  Snapshot out;
  for (const auto& [name, parameter] : store.entries()) {
    if (name == parameter.name()) {
      fit(name, parameter.shape(), given, out.parameters, mismatches);
      continue;
    }
    const auto second = given.find(name), first = given.find(parameter.name());  // tied: the file may lack it
    if (second != given.end() && first != given.end() &&
        (second->second->dtype != first->second->dtype || second->second->bytes != first->second->bytes))
      mismatches.other(name + " is not the same as " + parameter.name() + ", to which it is tied here");
  }
  for (const Buffer& buffer : store.buffers())
    fit(buffer.name(), buffer.value().shape(), given, out.buffers, mismatches);
  for (const IntegerBuffer& buffer : store.integer_buffers())
    fit(buffer.name(), buffer.value().shape(), given, out.integer_buffers, mismatches);
  for (const StoredTensor& tensor : tensors)
    if (!store.contains(tensor.name)) mismatches.unexpected(tensor.name);
  return out;
}

std::vector<StoredTensor> stored_values(const ParamStore& store) {
  std::vector<StoredTensor> out;
  for (const Parameter& parameter : store.parameters()) out.push_back(stored(parameter.name(), parameter.value()));
  for (const Buffer& buffer : store.buffers()) out.push_back(stored(buffer.name(), buffer.value()));
  for (const IntegerBuffer& buffer : store.integer_buffers()) out.push_back(stored(buffer.name(), buffer.value()));
  for (const StoredTensor& tensor : out)
    if (only_of_checkpoints(tensor.name))
      throw NameError("save_weights", "the name '" + tensor.name + "' is reserved for checkpoints");
  return out;
}

Metadata ties_of(const ParamStore& store) {
  Metadata out;
  for (const auto& [name, parameter] : store.entries())
    if (name != parameter.name()) out.emplace(name, parameter.name());
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE

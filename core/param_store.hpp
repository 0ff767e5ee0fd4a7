// ParamStore owns a model's parameters and buffers by dotted names. A Scope is a name prefix in it.
//
//   ParamStore store(seed);
//   Linear layer(store.root() / "head", 128, 65);     // registers "head.weight" and "head.bias"
#pragma once

#include <xtape/core/parameter.hpp>
#include <xtape/core/random.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Fills a new parameter. Its random stream depends on the seed and the parameter's name only.
using Init = std::function<void(Array& value, Random& random)>;

class Scope;

/// A named array that training changes, but not by gradients (running statistics). Copies share it.
template <class Values>
class BasicBuffer {
 public:
  BasicBuffer() = default;
  BasicBuffer(std::string name, Values value)
      : data_(std::make_shared<std::pair<std::string, Values>>(std::move(name), std::move(value))) {}

  /// All below throw ValueError on an empty handle.
  const std::string& name() const { return data().first; }
  const Values& value() const { return data().second; }
  /// Throws ShapeError if the shape differs.
  void set_value(const Values& value);
  auto* edit() { return data().second.data(); }  ///< writable elements, in place

 private:
  std::pair<std::string, Values>& data() const;

  std::shared_ptr<std::pair<std::string, Values>> data_;
};

using Buffer = BasicBuffer<Array>;
using IntegerBuffer = BasicBuffer<IndexArray>;  ///< counters: 64-bit integers in both dtypes and in files
extern template class BasicBuffer<Array>;
extern template class BasicBuffer<IndexArray>;

/// A copy of the values of all parameters and buffers.
struct Snapshot {
  std::vector<std::pair<std::string, Array>> parameters;
  std::vector<std::pair<std::string, Array>> buffers;
  std::vector<std::pair<std::string, IndexArray>> integer_buffers = {};
};

class ParamStore {
 public:
  explicit ParamStore(std::uint64_t seed = 0);
  ParamStore(const ParamStore&) = delete;
  ParamStore& operator=(const ParamStore&) = delete;

  Scope root();
  std::uint64_t seed() const { return state_->seed; }

  /// The mode that dropout and batch norm read; initially training.
  void train() { state_->training = true; }
  void eval() { state_->training = false; }
  bool training() const { return state_->training; }

  /// Parameters in the order of declaration; a tied one appears once, under its first name. A name matches a prefix if
  /// it equals it or continues it after a dot; the empty prefix matches all.
  std::vector<Parameter> parameters(std::string_view prefix = "") const;
  /// Every name with its parameter: tied parameters occur once for each name.
  const std::vector<std::pair<std::string, Parameter>>& entries() const { return state_->parameters; }
  const std::vector<Buffer>& buffers() const { return state_->buffers; }
  const std::vector<IntegerBuffer>& integer_buffers() const { return state_->integer_buffers; }
  /// Throws NameError if the name is unknown.
  Parameter parameter(std::string_view name) const;
  Buffer buffer(std::string_view name) const;
  IntegerBuffer integer_buffer(std::string_view name) const;
  bool contains(std::string_view name) const;
  /// The number of elements; tied parameters count once.
  index_t parameter_count(std::string_view prefix = "") const;

  /// No gradient flows to frozen parameters, and optimizers skip them. Throws NameError if no name matches.
  void freeze(std::string_view prefix) { set_trainable(prefix, false); }
  void unfreeze(std::string_view prefix) { set_trainable(prefix, true); }

  /// Drops all gradients, also those of a failed backward pass.
  void zero_grad();

  Snapshot snapshot() const;
  /// Sets all values. Throws NameError or ShapeError, and changes nothing, if the snapshot does not fit.
  void restore(const Snapshot& snapshot);

  /// The call counters of the random keys, by scope; part of a checkpoint.
  const std::map<std::string, std::shared_ptr<std::uint64_t>>& mask_counters() const { return state_->masks; }

  /// A table of names, shapes and element counts, with notes on tied, frozen and non-decaying parameters.
  std::string summary() const;

 private:
  friend class Scope;

  struct State {
    std::uint64_t seed = 0;
    bool training = true;
    std::vector<std::pair<std::string, Parameter>> parameters;
    std::vector<Buffer> buffers;
    std::vector<IntegerBuffer> integer_buffers;
    std::map<std::string, std::shared_ptr<std::uint64_t>> masks;
  };

  void set_trainable(std::string_view prefix, bool trainable);

  std::shared_ptr<State> state_;
};

class Scope {
 public:
  /// The scope of a child. Throws NameError for a name that is empty or contains a dot.
  Scope operator/(std::string_view child) const;
  Scope operator/(index_t child) const { return *this / std::to_string(child); }

  /// The dotted prefix, empty for the root.
  const std::string& name() const { return prefix_; }
  /// The dotted prefix, or `fallback` for the root.
  std::string name_or(std::string_view fallback) const { return prefix_.empty() ? std::string(fallback) : prefix_; }
  bool training() const { return state_->training; }

  /// Registers a new parameter, which decays if it has at least two axes. Throws NameError for a name that is taken,
  /// empty or contains a dot, ValueError without an init function.
  Parameter parameter(std::string_view name, const Shape& shape, const Init& init) const;
  /// Registers an existing parameter under another name, which ties weights. Throws NameError as above, ValueError for
  /// an empty handle.
  Parameter tie(std::string_view name, const Parameter& parameter) const;
  /// Registers a new buffer. Throws NameError as above.
  Buffer buffer(std::string_view name, Array value) const;
  IntegerBuffer integer_buffer(std::string_view name, IndexArray value) const;
  /// The random keys of this scope; every call returns the same stream.
  RandomKeyStream random_keys() const;

 private:
  friend class ParamStore;
  Scope(std::shared_ptr<ParamStore::State> state, std::string prefix)
      : state_(std::move(state)), prefix_(std::move(prefix)) {}

  std::string full_name(std::string_view name) const;
  std::string free_name(std::string_view name) const;

  std::shared_ptr<ParamStore::State> state_;
  std::string prefix_;
};

}  // namespace xtape::inline XTAPE_DTYPE

// ParamStore owns a model's parameters and buffers under dotted names; a Scope is a name prefix into it.
//
//   ParamStore store(seed);
//   Linear layer(store.root() / "head", 128, 65);     // registers "head.weight" and "head.bias"
#pragma once

#include <xtape/core/ops/dropout.hpp>
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

/// Fills a new parameter. The random stream depends on the seed and the parameter's name only.
using Init = std::function<void(Array& value, Random& random)>;

class Scope;

/// A named array that training code changes but no gradient reaches (running statistics). Copies share it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::string name, Array value);

  /// All below throw ValueError on an empty handle.
  const std::string& name() const { return data().first; }
  const Array& value() const { return data().second; }
  /// Throws ShapeError if the shape differs.
  void set_value(const Array& value);
  real* edit() { return data().second.data(); }  ///< writable elements, in place

 private:
  std::pair<std::string, Array>& data() const;

  std::shared_ptr<std::pair<std::string, Array>> data_;
};

/// Values of all parameters and buffers at one moment, independent of the store.
struct Snapshot {
  std::vector<std::pair<std::string, Array>> parameters;
  std::vector<std::pair<std::string, Array>> buffers;
};

class ParamStore {
 public:
  explicit ParamStore(std::uint64_t seed = 0);
  ParamStore(const ParamStore&) = delete;
  ParamStore& operator=(const ParamStore&) = delete;

  Scope root();
  std::uint64_t seed() const { return state_->seed; }

  /// Training mode is on at first; dropout and batch norm read it.
  void train() { state_->training = true; }
  void eval() { state_->training = false; }
  bool training() const { return state_->training; }

  /// Names match a prefix if they are equal to it or continue it after a dot; the empty prefix matches all.
  /// Parameters in declaration order; one that is tied appears once, under its first name.
  std::vector<Parameter> parameters(std::string_view prefix = "") const;
  /// Every registered name with its parameter: tied ones once for each name.
  const std::vector<std::pair<std::string, Parameter>>& entries() const { return state_->parameters; }
  const std::vector<Buffer>& buffers() const { return state_->buffers; }
  /// Throws NameError if the name is unknown.
  Parameter parameter(std::string_view name) const;
  Buffer buffer(std::string_view name) const;
  bool contains(std::string_view name) const;
  /// Number of elements, tied parameters counted once.
  index_t parameter_count(std::string_view prefix = "") const;

  /// No gradient flows to frozen parameters and optimizers leave them. Throws NameError if nothing matches.
  void freeze(std::string_view prefix) { set_trainable(prefix, false); }
  void unfreeze(std::string_view prefix) { set_trainable(prefix, true); }

  /// Forgets all gradients; also what a failed backward pass left.
  void zero_grad();

  Snapshot snapshot() const;
  /// Throws NameError or ShapeError before anything is changed if the snapshot does not fit.
  void restore(const Snapshot& snapshot);

  /// Call counters of the random masks, by scope: part of a checkpoint.
  const std::map<std::string, std::shared_ptr<std::uint64_t>>& mask_counters() const { return state_->masks; }

  /// A readable table: name, shape, elements, trainable, decays; tied and frozen ones marked.
  std::string summary() const;

 private:
  friend class Scope;

  struct State {
    std::uint64_t seed = 0;
    bool training = true;
    std::vector<std::pair<std::string, Parameter>> parameters;
    std::vector<Buffer> buffers;
    std::map<std::string, std::shared_ptr<std::uint64_t>> masks;
  };

  void set_trainable(std::string_view prefix, bool trainable);

  std::shared_ptr<State> state_;
};

/// The random masks of one dropout layer: each call gets a key of its own, counted in the ParamStore.
class RandomKeyStream {
 public:
  RandomKeyStream() = default;
  RandomKeyStream(std::uint64_t seed, std::uint64_t stream, std::shared_ptr<std::uint64_t> calls)
      : seed_(seed), stream_(stream), calls_(std::move(calls)) {}

  RandomKey next() { return {seed_, stream_, (*calls_)++}; }

 private:
  std::uint64_t seed_ = 0;
  std::uint64_t stream_ = 0;
  std::shared_ptr<std::uint64_t> calls_;
};

class Scope {
 public:
  /// The scope of a child. Throws NameError for a name that is empty or has a dot in it.
  Scope operator/(std::string_view child) const;
  Scope operator/(index_t child) const { return *this / std::to_string(child); }

  /// The dotted prefix, empty for the root.
  const std::string& name() const { return prefix_; }
  /// The same; for the root, `fallback`.
  std::string name_or(std::string_view fallback) const { return prefix_.empty() ? std::string(fallback) : prefix_; }
  bool training() const { return state_->training; }

  /// Registers a new parameter, decaying if it has at least two axes. All three throw NameError for a name that is
  /// taken, empty, or has a dot in it; ValueError for no initialisation and for an empty parameter.
  Parameter parameter(std::string_view name, const Shape& shape, const Init& init) const;
  /// Registers an existing parameter under a second name: weights are tied.
  Parameter tie(std::string_view name, const Parameter& parameter) const;
  /// Registers a new buffer.
  Buffer buffer(std::string_view name, Array value) const;
  /// The mask stream of this scope.
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

#include <xtape/core/error.hpp>
#include <xtape/core/runtime.hpp>
#include <xtape/inspect/log/dump_signal.hpp>
#include <xtape/inspect/log/run_log.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/train/checkpoints.hpp>
#include <xtape/train/weights_file.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>

namespace xtape::inline XTAPE_DTYPE {

namespace fs = std::filesystem;

namespace {

std::string optimizer_name(const std::string& slot, const std::string& parameter) {
  return kOptimizerPrefix + slot + "/" + parameter;
}

std::string carried_name(const std::string& name, std::size_t i) {
  return kCarriedPrefix + name + "/" + std::to_string(i);
}

/// Reports names that occur in only one of two maps.
template <class Here, class There>
void compare_names(const char* what, const std::map<std::string, Here>& here, const std::map<std::string, There>& there,
                   Mismatches& mismatches) {
  for (const auto& [name, value] : here)
    if (!there.contains(name)) mismatches.missing(what + name);
  for (const auto& [name, value] : there)
    if (!here.contains(name)) mismatches.unexpected(what + name);
}

/// The optimizer's state in a file. Removes its tensors from `rest`.
OptimizerState optimizer_state(const CheckpointRecord& record, std::map<std::string, const StoredTensor*>& rest) {
  OptimizerState out{.optimizer = record.optimizer, .options = record.optimizer_options, .parameters = {}};
  for (const auto& [name, steps] : record.optimizer_steps) out.parameters[name].steps = steps;
  for (auto entry = rest.begin(); entry != rest.end();) {
    const std::string& name = entry->first;
    const std::size_t begin = std::strlen(kOptimizerPrefix), slash = name.find('/', begin);
    const bool known = name.starts_with(kOptimizerPrefix) && slash != name.npos &&
                       record.optimizer_steps.contains(name.substr(slash + 1));
    if (known)
      out.parameters[name.substr(slash + 1)].slots[name.substr(begin, slash - begin)] = to_array(*entry->second);
    entry = known ? rest.erase(entry) : std::next(entry);
  }
  return out;
}

/// Reports what the optimizer rejects in a state, parameter by parameter.
void check_optimizer(const Optimizer& optimizer, const OptimizerState& state, Mismatches& mismatches) {
  const auto note = [&](const OptimizerState& part) {
    try {
      optimizer.check(part);
      return true;
    } catch (const Error& error) {
      mismatches.other(error.what());
      return false;
    }
  };
  if (!note({state.optimizer, state.options, {}})) return;
  for (const auto& parameter : state.parameters) note({state.optimizer, state.options, {parameter}});
}

}  // namespace

/// The converted and checked contents of a file, not yet applied.
struct Checkpoints::Contents {
  CheckpointRecord record;
  Snapshot values;
  OptimizerState optimizer;
  std::map<std::string, std::vector<Tensor>> tensors;
};

Checkpoints::Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, const std::string& run,
                         const CheckpointOptions& options)
    : args_(args),
      store_(store),
      optimizer_(optimizer),
      run_(run),
      directory_(run + "/" + run_folder::kCheckpoints),
      options_(options) {
  if (options.interval < 1 || options.keep < 1)
    throw ValueError("checkpoints", "interval and keep of at least 1", options.interval, options.keep);
  signals_.emplace();
}

Checkpoints::Checkpoints(const Args& args, ParamStore& store, Optimizer& optimizer, RunLog& log,
                         const CheckpointOptions& options)
    : Checkpoints(args, store, optimizer, log.directory(), options) {
  log_ = &log;
  carry("log", log);
}

void Checkpoints::check_free(const std::string& name) const {
  if (tensors_.contains(name) || randoms_.contains(name) || states_.contains(name))
    throw NameError("checkpoints", "something is carried as '" + name + "' already");
}

void Checkpoints::carry(const std::string& name, std::vector<Tensor>& tensors) {
  check_free(name);
  tensors_.emplace(name, &tensors);
}

void Checkpoints::carry(const std::string& name, Random& random) {
  check_free(name);
  randoms_.emplace(name, &random);
}

void Checkpoints::carry_state(const std::string& name, SaveState save, LoadState load) {
  check_free(name);
  states_.emplace(name, std::pair(std::move(save), std::move(load)));
}

CheckpointRecord Checkpoints::record(index_t step) const {
  CheckpointRecord out{.step = step, .seed = store_.seed(), .dtype = dtype_name(), .best_loss = best_loss_};
  for (const auto& [scope, calls] : store_.mask_counters()) out.masks.emplace(scope, *calls);
  for (const auto& [name, tensors] : tensors_) out.tensors.emplace(name, tensors->size());
  for (const auto& [name, random] : randoms_) out.randoms.emplace(name, random->position());
  for (const auto& [name, object] : states_) out.states.emplace(name, object.first());
  return out;
}

void Checkpoints::save(const std::string& path, index_t step) {
  for (const Parameter& parameter : store_.parameters())
    if (parameter.has_grad())
      throw ValueError("checkpoints", "there is a gradient of " + parameter.name() +
                                          ", which a checkpoint does not hold; call zero_grad() before");
  const OptimizerState optimizer = optimizer_.state();
  CheckpointRecord record = this->record(step);
  record.optimizer = optimizer.optimizer;
  record.optimizer_options = optimizer.options;
  std::vector<StoredTensor> tensors = stored_values(store_);
  for (const auto& [name, parameter] : optimizer.parameters) {
    record.optimizer_steps.emplace(name, parameter.steps);
    for (const auto& [slot, value] : parameter.slots) tensors.push_back(stored(optimizer_name(slot, name), value));
  }
  for (const auto& [name, carried] : tensors_)
    for (std::size_t i = 0; i < carried->size(); ++i)
      tensors.push_back(stored(carried_name(name, i), (*carried)[i].value()));
  Metadata metadata = options_.must_match;
  metadata.merge(ties_of(store_));
  metadata[kCheckpointKey] = checkpoint_json(record);
  write_safetensors(path, std::move(tensors), metadata);
}

void Checkpoints::check_record(const CheckpointRecord& record, const Metadata& metadata, Mismatches& mismatches) const {
  if (record.dtype != dtype_name())
    mismatches.other("it is of precision " + record.dtype + ", this is " + dtype_name());
  if (record.seed != store_.seed())
    mismatches.other("it is of seed " + std::to_string(record.seed) + ", this is " + std::to_string(store_.seed()));
  for (const auto& [name, fact] : options_.must_match) {
    const auto found = metadata.find(name);
    if (found == metadata.end() || found->second != fact) mismatches.other("the " + name + " is not the same");
  }
  compare_names("masks of ", store_.mask_counters(), record.masks, mismatches);
  compare_names(kCarriedPrefix, tensors_, record.tensors, mismatches);
  compare_names("stream ", randoms_, record.randoms, mismatches);
  compare_names("state of ", states_, record.states, mismatches);
}

Checkpoints::Contents Checkpoints::checked(const std::string& path) const {
  const SafetensorsFile file(path);
  const auto found = file.metadata().find(kCheckpointKey);
  if (found == file.metadata().end() || !file.has_checksum())
    throw FileError("checkpoint", path + " is not a checkpoint");
  Contents out{read_checkpoint_json(path, found->second), {}, {}, {}};
  std::map<std::string, const StoredTensor*> rest;
  for (const StoredTensor& tensor : file.tensors())
    if (tensor.name.starts_with(kOptimizerPrefix) || tensor.name.starts_with(kCarriedPrefix))
      rest.emplace(tensor.name, &tensor);
  out.optimizer = optimizer_state(out.record, rest);

  Mismatches mismatches;
  check_record(out.record, file.metadata(), mismatches);
  out.values = fitting_values(store_, named_weights(file), mismatches);
  check_optimizer(optimizer_, out.optimizer, mismatches);
  for (const auto& [name, count] : out.record.tensors)
    for (std::size_t i = 0; i < count; ++i) {
      const auto tensor = rest.extract(carried_name(name, i));
      if (tensor.empty()) {
        mismatches.missing(carried_name(name, i));
        break;  // a damaged count may be huge
      }
      out.tensors[name].emplace_back(to_array(*tensor.mapped()));
    }
  for (const auto& [name, tensor] : rest) mismatches.unexpected(name);
  mismatches.raise("checkpoint", path);
  return out;
}

index_t Checkpoints::load(const std::string& path) { return apply(checked(path)); }

index_t Checkpoints::apply(const Contents& contents) {
  const CheckpointRecord& record = contents.record;
  for (const auto& [name, random] : randoms_)
    Random(*random).seek(record.randoms.at(name));  // may throw: before any change
  store_.zero_grad();
  store_.restore(contents.values);
  optimizer_.load_state(contents.optimizer);
  for (const auto& [scope, calls] : store_.mask_counters()) *calls = record.masks.at(scope);
  for (const auto& [name, tensors] : tensors_) {
    const auto found = contents.tensors.find(name);
    *tensors = found == contents.tensors.end() ? std::vector<Tensor>() : found->second;
  }
  for (const auto& [name, random] : randoms_) random->seek(record.randoms.at(name));
  best_loss_ = record.best_loss;
  for (const auto& [name, object] : states_) object.second(record.step, record.states.at(name));
  return record.step;
}

index_t Checkpoints::resume() {
  if (args_.resume().empty()) {
    if (must_stop(0)) stop(0);
    return 0;
  }
  const std::vector<index_t> steps = checkpoint_steps(directory_);
  for (const index_t step : steps) {
    const std::string path = checkpoint_path(directory_, step);
    std::optional<Contents> contents;
    try {
      contents = checked(path);
    } catch (const MismatchError&) {
      throw;
    } catch (const FileError& error) {  // damaged: try an older one
      std::cerr << "warning: " << error.what() << std::endl;
      continue;
    }
    if (must_stop(contents->record.step)) stop(contents->record.step);
    if (options_.console) std::cout << "Going on at step " << contents->record.step << " from " << path << std::endl;
    apply(*contents);
    if (contents->record.step >= args_.steps()) signals_.reset();
    return contents->record.step;
  }
  if (!steps.empty()) throw FileError("checkpoint", "no checkpoint in " + directory_ + " is intact");
  if (options_.console) std::cout << "There is no checkpoint in " << run_ << ": the run starts anew" << std::endl;
  for (const auto& [name, object] : states_) object.second(0, "");
  if (must_stop(0)) stop(0);
  return 0;
}

void Checkpoints::save_in_directory(const std::string& path, index_t step) {
  if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST)
    throw FileError("checkpoint", directory_ + ": " + std::strerror(errno));
  try {
    save(path, step);
  } catch (const FileError& error) {
    const std::vector<index_t> steps = checkpoint_steps(directory_);
    throw FileError("checkpoint", std::string(error.what()) + "; the run ends at step " + std::to_string(step) +
                                      (steps.empty() ? ", and there is no checkpoint"
                                                     : ", and its newest checkpoint is that of step " +
                                                           std::to_string(steps.front())));
  }
}

void Checkpoints::remove_old(index_t done) const {
  index_t kept = 0;
  for (const index_t step : checkpoint_steps(directory_)) {
    std::error_code ignored;  // a file that cannot be removed does no harm
    if (step <= done && ++kept > options_.keep) fs::remove(checkpoint_path(directory_, step), ignored);
  }
}

void Checkpoints::validated(index_t step, double loss) {
  if (!(loss < best_loss_.value_or(std::numeric_limits<double>::infinity()))) return;
  best_loss_ = loss;
  save_in_directory(directory_ + "/" + run_folder::kBest, step);
}

bool Checkpoints::must_stop(index_t done) const {
  if (signals_ && signals_->noted() != 0) return true;
  return args_.stop_after() > 0 && done >= args_.stop_after() && done < args_.steps();
}

void Checkpoints::stop(index_t done) const {
  const int signal = signals_ ? signals_->noted() : 0;
  const std::string what = "stopped" + (signal == 0 ? "" : " by " + signal_name(signal)) + " after " +
                           std::to_string(done) + " of " + std::to_string(args_.steps()) + " steps";
  if (log_) log_->stop(what);
  throw StopRequested(signal == 0 ? 0 : 128 + signal, what + "; to go on: " + args_.program() + " --resume " + run_);
}

void Checkpoints::step(index_t step) {
  const index_t done = step + 1;
  const bool last = done >= args_.steps(), must = must_stop(done);  // asked once: a signal may come while it saves
  if (must || last || done % options_.interval == 0) {
    save_in_directory(checkpoint_path(directory_, done), done);
    remove_old(done);
  }
  if (must) stop(done);
  if (last) signals_.reset();
}

}  // namespace xtape::inline XTAPE_DTYPE

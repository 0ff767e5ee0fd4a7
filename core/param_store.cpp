#include <xtape/core/error.hpp>
#include <xtape/core/param_store.hpp>

#include <algorithm>
#include <array>

namespace xtape::inline XTAPE_DTYPE {

namespace {

bool matches(std::string_view name, std::string_view prefix) {
  return prefix.empty() || name == prefix ||
         (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '.');
}

/// One part of a dotted name.
void check_part(std::string_view name) {
  if (name.empty() || name.find('.') != std::string_view::npos)
    throw NameError("scope", "a name without a dot that is not empty", "'" + std::string(name) + "'");
}

std::string left_aligned(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

template <class Named>
const Named* find_named(const std::vector<Named>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name() == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

template <class Values>
std::pair<std::string, Values>& BasicBuffer<Values>::data() const {
  if (!data_) throw ValueError("buffer", "this handle is empty: it names no buffer");
  return *data_;
}

template <class Values>
void BasicBuffer<Values>::set_value(const Values& value) {
  check_shape("buffer " + name(), "a value", value.shape(), data().second.shape());
  data().second = value;
}

template class BasicBuffer<Array>;
template class BasicBuffer<IndexArray>;

ParamStore::ParamStore(std::uint64_t seed) : state_(std::make_shared<State>()) { state_->seed = seed; }

Scope ParamStore::root() { return {state_, ""}; }

std::vector<Parameter> ParamStore::parameters(std::string_view prefix) const {
  std::vector<Parameter> out;
  for (const auto& [name, parameter] : state_->parameters)
    if (matches(name, prefix)) out.push_back(parameter);
  return distinct(out);
}

Parameter ParamStore::parameter(std::string_view name) const {
  for (const auto& [known, parameter] : state_->parameters)
    if (known == name) return parameter;
  throw NameError("param_store", "there is no parameter named '" + std::string(name) + "'");
}

Buffer ParamStore::buffer(std::string_view name) const {
  if (const Buffer* buffer = find_named(state_->buffers, name)) return *buffer;
  throw NameError("param_store", "there is no buffer named '" + std::string(name) + "'");
}

IntegerBuffer ParamStore::integer_buffer(std::string_view name) const {
  if (const IntegerBuffer* buffer = find_named(state_->integer_buffers, name)) return *buffer;
  throw NameError("param_store", "there is no integer buffer named '" + std::string(name) + "'");
}

bool ParamStore::contains(std::string_view name) const {
  return std::any_of(state_->parameters.begin(), state_->parameters.end(),
                     [&](const auto& entry) { return entry.first == name; }) ||
         find_named(state_->buffers, name) || find_named(state_->integer_buffers, name);
}

index_t ParamStore::parameter_count(std::string_view prefix) const {
  index_t count = 0;
  for (const Parameter& parameter : parameters(prefix)) count += parameter.numel();
  return count;
}

void ParamStore::set_trainable(std::string_view prefix, bool trainable) {
  std::vector<Parameter> found = parameters(prefix);
  if (found.empty()) throw NameError("param_store", "no parameter has the prefix '" + std::string(prefix) + "'");
  for (Parameter& parameter : found) parameter.set_trainable(trainable);
}

void ParamStore::zero_grad() {
  for (auto& [name, parameter] : state_->parameters) parameter.zero_grad();
}

Snapshot ParamStore::snapshot() const {
  Snapshot out;
  for (const Parameter& parameter : parameters()) out.parameters.emplace_back(parameter.name(), parameter.value());
  for (const Buffer& buffer : buffers()) out.buffers.emplace_back(buffer.name(), buffer.value());
  for (const IntegerBuffer& buffer : integer_buffers()) out.integer_buffers.emplace_back(buffer.name(), buffer.value());
  return out;
}

void ParamStore::restore(const Snapshot& snapshot) {
  const auto for_each = [&](const auto& body) {
    for (const auto& [name, value] : snapshot.parameters) body(name, parameter(name), value);
    for (const auto& [name, value] : snapshot.buffers) body(name, buffer(name), value);
    for (const auto& [name, value] : snapshot.integer_buffers) body(name, integer_buffer(name), value);
  };
  for_each([](const std::string& name, const auto& to, const auto& value) {
    check_shape("restore", name, value.shape(), to.value().shape());
  });
  for_each([](const std::string&, auto to, const auto& value) { to.set_value(value); });
}

std::string ParamStore::summary() const {
  std::vector<std::array<std::string, 4>> rows = {{"parameter", "shape", "elements", ""}};
  for (const auto& [name, parameter] : state_->parameters) {
    std::string notes;
    if (name != parameter.name()) notes += " tied to " + parameter.name();
    if (!parameter.trainable()) notes += " frozen";
    if (!parameter.decays()) notes += " no decay";
    rows.push_back({name, shape_text(parameter.shape()), std::to_string(parameter.numel()), notes});
  }
  const auto add = [&rows](const std::string& name, const auto& value) {
    rows.push_back({name, shape_text(value.shape()), std::to_string(value.size()), " buffer"});
  };
  for (const Buffer& buffer : state_->buffers) add(buffer.name(), buffer.value());
  for (const IntegerBuffer& buffer : state_->integer_buffers) add(buffer.name(), buffer.value());
  std::size_t width = 0, shape_width = 0;
  for (const auto& row : rows) {
    width = std::max(width, row[0].size() + 2);
    shape_width = std::max(shape_width, row[1].size() + 2);
  }
  std::string out;
  for (const auto& [name, shape, elements, notes] : rows)
    out += left_aligned(name, width) + left_aligned(shape, shape_width) + left_aligned(elements, 12) + notes + "\n";
  return out + left_aligned("total", width) + left_aligned("", shape_width) + std::to_string(parameter_count()) + "\n";
}

Scope Scope::operator/(std::string_view child) const {
  check_part(child);
  return {state_, full_name(child)};
}

std::string Scope::full_name(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

std::string Scope::free_name(std::string_view name) const {
  check_part(name);
  std::string full = full_name(name);
  const auto taken = [&](const auto& entry) { return entry.first == full; };
  if (std::any_of(state_->parameters.begin(), state_->parameters.end(), taken) || find_named(state_->buffers, full) ||
      find_named(state_->integer_buffers, full))
    throw NameError("scope", "the name '" + full + "' is taken");
  return full;
}

Parameter Scope::parameter(std::string_view name, const Shape& shape, const Init& init) const {
  const std::string full = free_name(name);
  element_count(shape, full);
  if (!init) throw ValueError("scope", "the parameter '" + full + "' has no initialization");
  Array value = empty_array(shape);
  Random random(state_->seed, "init/" + full);
  init(value, random);
  Parameter parameter(full, std::move(value), shape.rank() >= 2);
  state_->parameters.emplace_back(full, parameter);
  return parameter;
}

Parameter Scope::tie(std::string_view name, const Parameter& parameter) const {
  const std::string full = free_name(name);
  if (!parameter.defined()) throw ValueError("scope", "'" + full + "' cannot be tied to an empty parameter");
  state_->parameters.emplace_back(full, parameter);
  return parameter;
}

Buffer Scope::buffer(std::string_view name, Array value) const {
  const std::string full = free_name(name);
  state_->buffers.emplace_back(full, std::move(value));
  return state_->buffers.back();
}

IntegerBuffer Scope::integer_buffer(std::string_view name, IndexArray value) const {
  const std::string full = free_name(name);
  state_->integer_buffers.emplace_back(full, std::move(value));
  return state_->integer_buffers.back();
}

RandomKeyStream Scope::random_keys() const {
  std::shared_ptr<std::uint64_t>& calls = state_->masks[prefix_];
  if (!calls) calls = std::make_shared<std::uint64_t>(0);
  return {state_->seed, stream_id("mask/" + prefix_), calls};
}

}  // namespace xtape::inline XTAPE_DTYPE

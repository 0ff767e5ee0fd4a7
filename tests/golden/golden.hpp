// Golden values: cases computed by PyTorch (make_golden.py), and the xtape calls that must agree with them.
//
// A table maps a case's name to a call:
//
//   {"softmax/last axis", [](Golden& g) { return softmax(g.in("x")); }},
//   {"Linear/bias", [](Golden& g) { Linear layer(g.scope(), 5, 3); return g.loaded(layer)(g.in("x")); }},
//
// `run_golden` passes the case's inputs as variables, loads its parameters by name, and compares the outputs, the
// gradients of all inputs and parameters, and the buffers.
#pragma once

#include "support.hpp"

#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace xtape::test {

/// One array of a case. golden_file.py describes the sections.
struct GoldenArray {
  std::string section;
  std::string name;
  Shape shape;
  std::vector<double> numbers;

  Array array() const;          ///< in the scalar type of this dtype
  IndexArray integers() const;  ///< of integers
  Mask mask() const;            ///< true where not zero
};

/// A case as stored in its file.
struct GoldenValues {
  std::string name;
  std::vector<GoldenArray> arrays;

  /// Null if the case has no such array.
  const GoldenArray* find(std::string_view section, std::string_view array) const;
  /// Throws NameError if the case has no such array.
  const GoldenArray& get(std::string_view section, std::string_view array) const;
  /// The arrays of one section, in the order of the file.
  std::vector<const GoldenArray*> all(std::string_view section) const;
};

/// The cases of all files, by name.
const std::map<std::string, GoldenValues>& golden_values();
/// Throws NameError if there is no such case.
const GoldenValues& golden_values(const std::string& name);

/// Sets the store's parameters and buffers to the values of section state. Throws NameError if a name is missing on
/// either side.
void load_state(ParamStore& store, const GoldenValues& values);

/// Gives a call of the table access to its case.
class Golden {
 public:
  explicit Golden(const GoldenValues& values) : values_(values) {}

  Tensor in(const std::string& name);  ///< a variable whose gradient is compared
  Tensor fixed(std::string_view name) const { return values_.get("fixed", name).array(); }
  IndexArray integers(std::string_view name) const { return values_.get("int", name).integers(); }
  Mask mask(std::string_view name) const { return values_.get("int", name).mask(); }

  ParamStore& store() { return store_; }
  Scope scope() { return store_.root(); }
  /// The layer, after its parameters and buffers were set to the case's values.
  template <class Layer>
  Layer& loaded(Layer& layer) {
    load_state(store_, values_);
    return layer;
  }

  Tape& tape() { return tape_; }

 private:
  const GoldenValues& values_;
  ParamStore store_{7};
  Tape tape_;
  std::map<std::string, Tensor> inputs_;
};

/// One output, or several in the order of the file.
struct Outputs {
  std::vector<Tensor> all;
  Outputs(Tensor y) : all{std::move(y)} {}
  Outputs(std::vector<Tensor> many) : all(std::move(many)) {}
};

/// What an error is relative to: the largest absolute value of the array (at least 1e-3), or the element itself, if
/// small elements must be accurate, too.
enum class Scale { array, element };

struct GoldenLimits {
  double in_double = 1e-10;
  double in_float = 2e-5;
  Scale scale = Scale::array;
  const char* why = "";  ///< printed if the limit is larger than usual

  double here() const { return tolerance(in_double, in_float); }
};

struct GoldenCase {
  std::string name;
  std::function<Outputs(Golden&)> call;
  GoldenLimits limits = {};
};
using GoldenTable = std::vector<GoldenCase>;

/// The op, layer or optimizer of a case: the part of the name before the slash.
inline std::string subject_of(const std::string& name) { return name.substr(0, name.find('/')); }

struct GoldenResult {
  double worst = 0;           ///< largest error, relative to the scale
  std::string where;          ///< array and element with the largest error
  std::set<std::string> ops;  ///< recorded on the tape

  /// Compares one array and keeps the largest error. Equal infinities agree, and NaN agrees with NaN.
  void compare(const Array& got, const GoldenArray& want, Scale scale = Scale::array);
};

GoldenResult run_golden(const GoldenCase& entry);

/// Runs all cases under doctest and checks that the largest error of each is within its limit.
void check_golden(const GoldenTable& table);

}  // namespace xtape::test

// run.json: what a run was started with, and on which machine. Written and read.
#pragma once

#include <xtape/inspect/run/description.hpp>

#include <string>
#include <utility>
#include <vector>

namespace xtape {

struct ParameterInfo {
  std::string name;
  std::vector<index_t> shape;
  bool trainable;
};

/// What run.json says: the description, and what RunLog reads from the store and the runtime.
struct RunInfo {
  RunDescription description;
  std::string dtype = {};  ///< "f32" or "f64"
  std::string blas = {};   ///< library of the matrix products
  std::string isa = {};    ///< instruction set of the kernels: "plain", "v3", "v4"
  int threads = 0;
  index_t parameters = 0;  ///< number of elements
  std::vector<ParameterInfo> layout = {};
};

/// The content of a new run.json. Adds the library's version, the compiler, the processor and the time.
std::string run_json(const RunInfo& info);

/// The content of the run.json of a resumed run: `before`, with the number of steps planned now and a new entry in its
/// list "resumed". Throws FileError if `before` is damaged.
std::string resumed_run_json(const std::string& before, const RunInfo& info);

/// The options in a run's run.json, as on the command line; a flag is "true" or "". Throws FileError if `directory`
/// holds no run, run.json is damaged, or the run is of another program.
std::vector<std::pair<std::string, std::string>> options_of_run(const std::string& directory,
                                                                const std::string& program);

}  // namespace xtape

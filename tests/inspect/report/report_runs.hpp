// Made runs for the tests of the report and of the comparison.
#pragma once

#include "inspect/made_runs.hpp"

#include <xtape/inspect/run/run_json.hpp>

namespace xtape::test {

/// Writes a made run and puts other options, seed and parameters into its run.json.
inline std::string write_run(const TemporaryDirectory& work, const std::string& name, const MadeRun& made,
                             std::vector<std::pair<std::string, OptionValue>> options, std::uint64_t seed = 1,
                             const std::string& program = "made", const std::vector<std::string>& parameters = {}) {
  std::string directory = made.write(work, name);
  RunInfo info = {.description = {.program = program, .options = std::move(options), .seed = seed},
                  .dtype = "f32",
                  .blas = "none",
                  .isa = "v4",
                  .threads = 1,
                  .parameters = 300};
  info.description.options.emplace_back("steps", index_t{10 * made.steps});
  for (const std::string& parameter : parameters) info.layout.push_back({parameter, {10, 10}, true});
  work.write(name + "/run.json", run_json(info));
  return directory;
}

/// Makes a run of so many layers of two weights each of a made one.
inline std::function<void(StepRecord&, double)> with_layers(int count) {
  return [count](StepRecord& r, double) {
    const ParameterStats like = r.parameters.front();
    const LayerStats layer = r.layers.front();
    r.parameters.clear();
    r.layers.clear();
    for (int i = 0; i < count; ++i) {
      const std::string name = "layers." + std::to_string(i);
      for (const char* part : {".linear1.weight", ".linear2.weight"}) {
        r.parameters.push_back(like);
        r.parameters.back().name = name + part;
        r.parameters.back().grad_norm *= 1 + 0.01 * i;
      }
      r.layers.push_back(layer);
      r.layers.back().name = name;
    }
  };
}

}  // namespace xtape::test

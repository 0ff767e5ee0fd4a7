// The text of what a run directory holds: run.json and rows of grad_norms.csv. For the lines of metrics.jsonl and
// events.jsonl see step_json.hpp.
#pragma once

#include <xtape/inspect/run/records.hpp>
#include <xtape/train/args.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

struct ParameterInfo {
  std::string name;
  std::vector<index_t> shape;
  bool trainable;
};

/// Facts about a run that do not change while it lasts.
struct RunInfo {
  std::string program;
  std::vector<std::pair<std::string, ArgValue>> options;
  std::uint64_t seed;
  std::string dtype;  ///< "f32" or "f64"
  std::string blas;
  std::string isa;  ///< instruction set of the kernels: "plain", "v3", "v4"
  int threads;
  index_t parameters;  ///< number of elements
  std::vector<ParameterInfo> layout = {};
};

/// The content of run.json; the version, compiler, processor and time are filled in.
std::string run_json(const RunInfo& info);

/// The content of run.json of a run that goes on: as it was, but for the number of steps wanted now, and with the time,
/// version, processor, kernels and threads added to its list "resumed". Throws FileError if `before` is no run.json.
std::string resumed_run_json(const std::string& before, const RunInfo& info, index_t steps);

/// The step of a line of metrics.jsonl or events.jsonl; the largest number for one that is damaged, or says that the
/// run is finished: when it goes on it is not.
std::optional<index_t> step_of_json_line(std::string_view line);
/// The step of a row of grad_norms.csv; nothing for its heading.
std::optional<index_t> step_of_csv_row(std::string_view row);

constexpr const char* kGradNormsHeader = "step,kind,name,t,value\n";

/// One row of grad_norms.csv with its line end; without a time step if `time` is negative. The name is quoted where CSV
/// (RFC 4180) needs it.
std::string grad_norms_row(index_t step, const char* kind, const std::string& name, double value, index_t time = -1);

/// All rows of a step.
std::string grad_norms_rows(const StepRecord& record);

/// A number as in grad_norms.csv and on the console: printf's `format`, or NaN, Inf, -Inf.
std::string number_text(double value, const char* format = "%.9g");

}  // namespace xtape
